"""A store for `fitcheck` to try this program's own server on: many scripts, code, giants, long sessions."""

import os
import subprocess
from random import Random

from haversack.app import open_caller
from haversack.config import Config
from haversack.tools.road.call import call

_SENTENCES = (
    "The token rotation raced with a slow request, so the previous key stays valid.",
    "我们选择了轮换令牌，因为数据库连接在夜间会超时。",
    "トークンは一時間ごとに更新される。ポートは6543です。",
    "Кэш сбрасывается при каждом выпуске, ключ хранится в базе данных.",
    "مفتاح المصادقة يتغير كل ساعة، وقاعدة البيانات على المنفذ 5432.",
    "Ship it 🚀🚀 👨‍👩‍👧‍👦 🏳️‍🌈 👍🏽 and watch the latency of the cache.",
    "```python\nfor port in (5432, 6543):\n    deploy(port)\n```",
    '{"port": 5432, "host": "db.internal", "retries": [1, 2, 4]}',
    "2026-02-02T10:00:00Z ERROR src/auth/keys.ts:42 token expired",
)


def fill(home: str, *, memories: int = 90) -> None:
    """Put memories, prompts, sessions and relations into the store of a home."""
    random = Random(7)
    caller = open_caller(Config(home=home), directory=home)
    for number in range(memories):
        sentences = random.choice((1, 2, 5, 40)) if number % 30 else 400
        call(
            caller,
            "mem_save",
            {
                "title": f"{random.choice(_SENTENCES).splitlines()[0][:70]} {number}",
                "content": "\n".join(random.choice(_SENTENCES) for _ in range(sentences)) + f"\nnote {number}",
                "kind": random.choice(("decision", "bugfix", "config")),
                "project": random.choice(("thesis", "gateway", "项目")),
                "tags": random.sample(("auth", "数据库", "perf"), 2),
                "relate_to": [random.randint(1, number)] if number else [],
            },
        )
    for number in range(6):
        call(caller, "mem_save_prompt", {"content": f"{random.choice(_SENTENCES)} {number}", "project": "thesis"})
        call(caller, "mem_update", {"id": number + 1, "content": random.choice(_SENTENCES) * 20 + f" {number}"})
    caller.app.close()


def write_files(folder: str) -> None:
    """Put files of many scripts into a folder, under version control where git is installed."""
    random = Random(8)
    with open(os.path.join(folder, "README.md"), "w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join(_SENTENCES * 20))
    for number in range(40):
        path = os.path.join(folder, random.choice(("src", "docs")), f"file{number}.{random.choice(('py', 'md'))}")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            for _ in range(random.choice((1, 10, 300))):
                file.write(random.choice(_SENTENCES) + "\n")
    identity = ("-c", "user.name=sample", "-c", "user.email=sample@example.org")
    for step in (("init", "--quiet"), ("add", "--all"), (*identity, "commit", "--quiet", "-m", "a first commit")):
        try:
            subprocess.run(["git", *step], cwd=folder, capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return
    with open(os.path.join(folder, "docs", "changed.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(_SENTENCES))
