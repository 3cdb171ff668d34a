"""Prices along the way: what each page says the rest costs is what the rest costs, however unlike its parts are."""

import subprocess
from collections.abc import Iterator

import pytest

from haversack.app import Caller, open_caller
from haversack.config import Config, WorkspaceSettings
from haversack.memory import sessions
from haversack.memory.save import pipeline
from haversack.memory.save.pipeline import Draft
from haversack.tools.road.call import call
from tests.conftest import Clock
from tests.workspace.git_repository import GitRepository

COUNT = 200
PAGES = 3
LONG = "a long line about the reasons of a change, and about what else was thought of 汉字 " * 2


@pytest.fixture(scope="module")
def skewed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Caller, str]]:
    """A store and a repository in which what comes first is short and what comes later is long."""
    top = tmp_path_factory.mktemp("skewed")
    repository = GitRepository.create(top / "desk")
    _write_history(repository)
    for number in range(COUNT):
        text = "needle\n" if number < COUNT // 2 else f"{LONG} needle\n" * 2
        repository.write(f"src/{number:04}-{'x' if number < COUNT // 2 else 'long-' * 20}.txt", text)
    clock = Clock()
    config = Config(home=str(top / "home"), workspace=WorkspaceSettings(root=str(top / "desk")))
    caller = open_caller(config, directory=str(top / "desk"), now=clock)
    with caller.database.write():
        for number in range(COUNT):
            old = number < COUNT // 2
            text = f"{LONG * 3} token {number}" if old else f"token {number}"
            pipeline.save(caller.memory, Draft(title=text[:300], content=text, project="p"))
            started = sessions.start(caller.memory, identifier=f"s{number}", project="p")
            sessions.end(caller.memory, started.id, LONG * 3 if old else "done")
    agent = open_caller(config, directory=str(top / "desk"), now=clock, own_account=True)
    for number in range(80):
        call(agent, "mem_search", {"query": LONG[:150] if number < 40 else "token", "max_tokens": 64 + number})
    agent.app.close()
    clock.advance(days=1)
    now = clock()
    caller.app.now = lambda: now
    yield caller, agent.account
    caller.app.close()


def _write_history(repository: GitRepository) -> None:
    """Many commits at once, the oldest with the longest subjects."""
    written = []
    for number in range(COUNT):
        subject = f"{LONG} {number}".strip() if number < COUNT // 2 else f"short {number}"
        raw = subject.encode()
        written.append(b"commit refs/heads/imported\ncommitter A <a@b> %d +0000\n" % (1_770_000_000 + number))
        written.append(b"data %d\n%b\n" % (len(raw), raw))
    stream = b"".join(written)
    subprocess.run(["git", "fast-import", "--quiet"], cwd=repository.path, input=stream, check=True)
    repository.git("symbolic-ref", "HEAD", "refs/heads/imported")


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("vcs_log", {"count": 10}),
        ("vcs_log", {"count": 120}),
        ("vcs_log", {"count": 10_000}),
        ("project_files", {}),
        ("search_content", {"pattern": "needle"}),
        ("list_observations", {"limit": 100}),
        ("list_observations", {"limit": 5, "detail_level": "full"}),
        ("mem_search", {"query": "token", "limit": 100, "detail_level": "full"}),
        ("mem_search", {"query": "token", "limit": 5, "detail_level": "summary"}),
        ("mem_context", {"limit": 100, "detail_level": "full"}),
        ("mem_context", {"limit": 100, "detail_level": "summary"}),
        ("list_sessions", {"limit": 100, "detail_level": "full"}),
        ("list_sessions", {"limit": 5}),
        ("mem_compact", {"older_than_days": 0}),
        ("context_pack", {"detail_level": "full", "candidates": 120}),
        ("work_log", {"limit": 100}),
        ("work_log", {"limit": 5}),
    ],
)
def test_every_page_states_what_the_rest_costs(
    skewed: tuple[Caller, str], name: str, arguments: dict[str, object], form: str
) -> None:
    caller, account = skewed
    if name == "work_log":
        arguments = arguments | {"account": account}
    reply = call(caller, name, arguments | {"max_tokens": 1_000, "format": form})
    for _ in range(PAGES):
        assert reply.left is not None
        key, paid = reply.left.key, 0
        while key:
            page = call(caller, "more", {"key": key, "max_tokens": 10**6, "format": form})
            paid += page.tokens
            key = page.left.key if page.left else ""
        off = abs(paid - reply.left.price)
        assert off <= (0 if reply.left.exact else 0.1 * paid), f"said {reply.left.price:,}, paid {paid:,}"
        reply = call(caller, "more", {"key": reply.left.key, "max_tokens": 1_000, "format": form})


@pytest.mark.parametrize("level", ["summary", "full"])
def test_every_page_has_the_level_of_the_first(skewed: tuple[Caller, str], level: str) -> None:
    caller, _ = skewed
    arguments = {"limit": 5, "detail_level": level, "max_tokens": 1_000}
    reply = call(caller, "list_observations", arguments)
    for _ in range(PAGES):
        assert reply.left is not None
        reply = call(caller, "more", {"key": reply.left.key, "max_tokens": 1_000})
        assert (reply.text.count("\n\n#") > 0) == (level == "full"), "items in full are a blank line apart"
        assert len(reply.names) > 2
