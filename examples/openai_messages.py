"""The same for OpenAI chat messages, with no store at all: a line names the call it stands for."""

import json
from typing import Any

from haversack.worklog import count_messages, fit_messages

BUDGET = 900

history: list[dict[str, Any]] = [
    {"role": "system", "content": "Answer in one sentence."},
    {"role": "user", "content": "Where is the retry limit set?"},
]
for number in range(6):
    arguments = json.dumps({"pattern": f"retry_{number}"})
    call = {"id": f"call_{number}", "type": "function", "function": {"name": "grep", "arguments": arguments}}
    matches = "".join(f"src/client_{line}.py:{line}: retry_{number} = {line}\n" for line in range(40))
    history += [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": matches},
    ]


def matches_in_brief(text: str) -> str:
    return f"{len(text.splitlines())} matches, the first in {text.split(':')[0]}"


sent = fit_messages(history, BUDGET, compressors={"grep": matches_in_brief})
print(f"{count_messages(history):,} tokens of history, {count_messages(sent):,} sent")
for message in sent:
    print(f"{message['role']}: {message.get('content') or message['tool_calls'][0]['function']['arguments']}"[:100])
again = fit_messages(history, BUDGET, compressors={"grep": matches_in_brief})
print("the same history gives the same bytes:", json.dumps(sent) == json.dumps(again))
