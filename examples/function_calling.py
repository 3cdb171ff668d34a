"""The memory's tools in any model's function calling; here the model is a script."""

import tempfile

from haversack import Memory
from haversack.adapters.function_calling import run, schemas

CALLS = [
    ("mem_save", '{"title": "Port", "content": "The service listens on 6543."}'),
    ("mem_search", '{"query": "which port", "max_tokens": 200}'),
    ("mem_search", '{"quary": "which port"}'),
]

for provider in ("openai", "anthropic", "gemini"):
    print(f"{provider}: {len(schemas(provider))} tools")
with tempfile.TemporaryDirectory() as home, Memory(project="thesis", home=home) as memory:
    for name, arguments in CALLS:
        print(f"{name}: {run(memory, name, arguments).splitlines()[0]}")
