"""Stores of every sort for the contract to be tried on, each built once, always the same."""

import dataclasses
import os
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from tempfile import mkdtemp

from haversack.app import Caller, open_caller
from haversack.config import Config, TokenSettings
from haversack.memory import progress, relations, sessions
from haversack.memory.save import edits, pipeline
from haversack.memory.save.edits import Changes
from haversack.memory.save.pipeline import Draft
from haversack.memory.transfer.migration import migrate
from haversack.store.postgres.address import is_server
from haversack.tokens import PROFILES
from haversack.tools.road.call import call
from haversack.values import replace
from tests.conftest import Clock
from tests.contract.plans import PLANS
from tests.sdd.conftest import REQUIREMENTS, Desk
from tests.workspace.git_repository import GitRepository

PROJECTS = ("thesis", "Ünïcode", "项目", "empty handed")
NAMESPACES = ("", "scout")
KINDS = ("decision", "bugfix", "config", "观察")
TAGS = ("auth", "数据库", "Perf")
WORDS = (
    "token", "rotation", "database", "port", "authenticate", "deploy", "latency", "cache", "认证", "数据库", "トークン",
    "кэш", "ключ", "émigré", "🚀", "getUserName", "C++", "src/auth/keys.ts", "5432", "6543",
)  # fmt: skip
SENTENCES = (
    "The token rotation raced with a slow request, so the previous key stays valid.",
    "我们选择了轮换令牌，因为数据库连接在夜间会超时。认证服务每小时更换密钥。",
    "トークンは一時間ごとに更新される。データベースのポートは6543です。",
    "Кэш сбрасывается при каждом выпуске, ключ хранится в базе данных.",
    "مفتاح المصادقة يتغير كل ساعة، وقاعدة البيانات على المنفذ 5432.",
    "हर घंटे कुंजी बदलती है और डेटाबेस का पोर्ट 6543 है।",
    "Ship it 🚀🚀 👨‍👩‍👧‍👦 🏳️‍🌈 👍🏽 and watch the latency of the cache.",
    "def authenticate(user_name):\n    if not user_name:\n        raise ValueError('no user')\n    return getUserName(user_name)",
    '{"port": 5432, "host": "db.internal", "retries": [1, 2, 4], "tls": true}',
    "```python\nfor port in (5432, 6543):\n    deploy(port)\n```",
    "2026-02-02T10:00:00Z ERROR src/auth/keys.ts:42 token expired 0xdeadbeef",
    "https://example.com/very/long/path?query=token&cache=none#rotation",
)


@dataclass(frozen=True)
class World:
    """A store and a folder, what is in them, and a program on them for every way of counting."""

    name: str
    home: str
    desk: str
    apps: dict[str, Caller]
    ids: tuple[int, ...]
    session_ids: tuple[str, ...]
    pack_ids: tuple[str, ...]
    accounts: tuple[str, ...]

    @property
    def caller(self) -> Caller:
        return self.apps["o200k"]


def opened(home: str, profile: str, clock: Clock) -> Caller:
    return open_caller(Config(home=home, tokens=TokenSettings(profile=profile)), directory=home, now=clock)


@cache
def world(name: str) -> World:
    """The store of that name; it lives as long as the test run."""
    top = mkdtemp(prefix="haversack-contract-")
    home, desk = os.path.join(top, "home"), os.path.join(top, "desk")
    os.mkdir(home)
    repository = GitRepository.create(Path(desk))
    if name != "empty":
        _work(repository, Random(name))
    if name == "mixed":
        _plan(desk)
    clock = Clock()
    builder = opened(home, "o200k", clock)
    BUILDERS[name](builder, Random(name))
    if name in PLANS:
        PLANS[name](home, Random(name), SENTENCES)
    packs = () if name == "empty" else (_a_pack(builder),)
    accounts = () if name == "empty" else (_an_account(home, clock),)
    with builder.database.read() as tx:
        ids = tuple(row[0] for row in tx.rows("SELECT id FROM observations WHERE deleted_at IS NULL ORDER BY id"))
        session_ids = tuple(row[0] for row in tx.rows("SELECT id FROM sessions ORDER BY id"))
    builder.app.close()
    clock.advance(days=40)
    # The clock stands still from here on: what is asked twice is asked at the same time.
    now = clock()
    apps = {
        profile: open_caller(Config(home=home, tokens=TokenSettings(profile=profile)), directory=desk, now=lambda: now)
        for profile in sorted(PROFILES)
    }
    return World(name, home, desk, apps, ids, session_ids, packs, accounts)


def copied(name: str) -> World:
    """A copy of a store and its folder, for tests that write."""
    held = world(name)
    top = mkdtemp(prefix="haversack-scratch-")
    home, desk = os.path.join(top, "home"), os.path.join(top, "desk")
    shutil.copytree(held.home, home)
    shutil.copytree(held.desk, desk, symlinks=True)
    now = held.caller.now()
    apps = {
        profile: open_caller(Config(home=home, tokens=TokenSettings(profile=profile)), directory=desk, now=lambda: now)
        for profile in held.apps
    }
    if is_server(held.caller.database.describe()):
        migrate(held.caller.database, apps["o200k"].database)
    return dataclasses.replace(held, home=home, desk=desk, apps=apps)


def _work(repository: GitRepository, random: Random) -> None:
    """Files, commits and changes under way; more than a small budget holds."""
    for number in range(80):
        lines = "\n".join(f"{line}: {random.choice(SENTENCES)} token" for line in range(number))
        repository.write(f"src/部{number % 7}/file {number}.py", lines + "\n")
    repository.write("long.txt", "token " * 20_000)
    for day in range(1, 25):
        repository.write("history.md", "\n".join(random.choice(SENTENCES) for _ in range(day * 5)))
        repository.commit(f"{random.choice(SENTENCES)[:60]} {day}", day=day)
    for number in range(0, 80, 3):
        repository.write(f"src/部{number % 7}/file {number}.py", f"changed {number} token\n" * 30)
    repository.write(".env", "TOKEN=secret")


def _plan(folder: str) -> None:
    """A plan with more in it than a small budget holds, and a change under way."""
    desk = Desk(folder)
    desk.init()
    desk.propose()
    wishes = "\n".join(f"- A reader finds book {number} by its token 汉字 {number}" for number in range(60))
    desk.specify(replace(REQUIREMENTS, must_have=wishes))
    desk.rules()
    desk.start_change("Readers rotate a token 🚀")


def _a_pack(caller: Caller) -> str:
    import json

    reply = call(caller, "context_pack", {"project": PROJECTS[0], "format": "json", "max_tokens": 2000})
    return str(json.loads(reply.text)["pack_id"])


def _an_account(home: str, clock: Clock) -> str:
    """An account with a work log longer than a page."""
    caller = open_caller(Config(home=home), directory=home, now=clock, own_account=True)
    for number in range(60):
        call(
            caller, "mem_search", {"query": WORDS[number % len(WORDS)], "limit": 1 + number, "max_tokens": 64 + number}
        )
    caller.app.close()
    return caller.account


def text(random: Random, sentences: int) -> str:
    return "\n".join(random.choice(SENTENCES) + " " + random.choice(WORDS) for _ in range(sentences))


def title(random: Random) -> str:
    wanted = random.choice((2, 4, 8, 40))
    words = " ".join(random.choice(WORDS) for _ in range(wanted))
    return random.choice((words, random.choice(SENTENCES).replace("\n", " "), words))[:480]


def draft(random: Random, number: int, *, sentences: int) -> Draft:
    return Draft(
        title=f"{title(random)} {number}",
        content=text(random, sentences) + f"\nnote {number}",
        kind=random.choice(KINDS),
        project=random.choice(PROJECTS[:3]),
        namespace=random.choice((*NAMESPACES, "")),
        tags=tuple(random.sample(TAGS, random.randint(0, 3))),
        importance=random.choice((0.0, 0.5, 1.0)),
        pinned=random.random() < 0.07,
    )


def _empty(caller: Caller, random: Random) -> None:
    with caller.database.read():
        """Open it, so that the file is there."""


def _tiny(caller: Caller, random: Random) -> None:
    pipeline.save(caller.memory, Draft(title="t", content="x", project=PROJECTS[0]))
    pipeline.save(caller.memory, Draft(title="汉" * 480, content="汉" * 3000, project=PROJECTS[0]))


def _mixed(caller: Caller, random: Random) -> None:
    """Short and long texts in many scripts, with pins, sessions, prompts, relations, revisions and giants."""
    memory = caller.memory
    for number in range(6):
        session = sessions.start(memory, identifier=f"s-{number}", project=random.choice(PROJECTS[:3]))
        sessions.end(memory, session.id, text(random, random.choice((0, 1, 30))))
    ids = [
        pipeline.save(memory, draft(random, number, sentences=random.choice((1, 2, 5, 40)))).id for number in range(44)
    ]
    giants = ("x" * 12_000, text(random, 1200)[:100_000], "token " * 15_000)
    ids += [
        pipeline.save(memory, Draft(title=f"giant token {number}", content=content, project=PROJECTS[0])).id
        for number, content in enumerate(giants)
    ]
    for _ in range(60):
        one, other = random.sample(ids, 2)
        relations.relate(memory, one, other, random.choice(("relates_to", "fixes", "part_of")), note=title(random))
    for number in range(12):
        sessions.save_prompt(memory, text(random, random.choice((1, 50))), project=random.choice(PROJECTS[:3]))
        edits.update(memory, ids[number % 4], Changes(content=text(random, random.choice((1, 30)))))
    document = '{"done": [' + ",".join(f'"step {n} of the token rotation"' for n in range(400)) + "]}"
    progress.write(memory, PROJECTS[0], document)
    progress.write(memory, PROJECTS[2], '{"next": "数据库"}')
    for identifier in random.sample(ids[4:], 4):
        edits.delete(memory, identifier)


def _many(caller: Caller, random: Random) -> None:
    """More short ones than any limit shows."""
    with caller.database.write():
        for number in range(260):
            pipeline.save(caller.memory, draft(random, number, sentences=1))
    for number in range(70):
        sessions.start(caller.memory, identifier=f"run-{number}", project=PROJECTS[0])


BUILDERS = {"empty": _empty, "tiny": _tiny, "mixed": _mixed, "many": _many}
