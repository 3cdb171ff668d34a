"""Real hosts, connected by `install`: server, hooks and a model's tool call work, and `uninstall` leaves no trace."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.real.programs import REAL_HOSTS, Machine, RealHost, machine
from tests.hosts.real.report import Seen, record
from tests.hosts.real.scripted_model import Call, ScriptedModel, Step

PROMPT = "Add a retry to the uploader, and mind that signing tokens rotate hourly"
ROTATION = (
    "Signing tokens rotate hourly",
    "The JWT signing tokens rotate every hour; the old key stays valid for two.",
)
SAVED = {"title": "Uploads are retried", "content": "The uploader retries three times, with a pause that doubles."}
LEARNING = "The uploader needs an idempotency key for every retry it makes"


@pytest.fixture(params=REAL_HOSTS, ids=lambda host: host.name)
def host(request: pytest.FixtureRequest) -> RealHost:
    found: RealHost = request.param
    if not request.config.getoption("--real-hosts"):
        pytest.skip("real hosts are run by `make test-hosts`")
    if not found.is_installed:
        pytest.skip(f"{found.package} is not installed (tools/install_hosts.py does it where npm works)")
    return found


def script(host: RealHost, project: Path) -> list[Step]:
    """What the model does: keep a memory, use a tool of the host's, and end with a learning."""
    tool, arguments = host.write
    used = {name: value.replace("{project}", str(project)) for name, value in arguments.items()}
    return [Call("mem_save", SAVED), Call(tool, used), f"Done.\n\n## Key learnings\n\n- {LEARNING}\n"]


@pytest.fixture
def model(host: RealHost, tmp_path: Path) -> Iterator[ScriptedModel]:
    made = ScriptedModel(script(host, tmp_path / "work"))
    yield made
    made.close()


@pytest.fixture
def user(host: RealHost, model: ScriptedModel, tmp_path: Path) -> Machine:
    made = machine(tmp_path, model.url)
    made.extra = host.environment(made)
    host.prepare(made)
    return made


def settings(user: Machine) -> dict[str, bytes]:
    """The user's own files, as far as they are there before a host runs."""
    found = (path for path in user.home.rglob("*") if path.is_file())
    return {str(path.relative_to(user.home)): path.read_bytes() for path in found}


def test_a_session_recalls_keeps_and_leaves(
    host: RealHost, user: Machine, model: ScriptedModel, seen: dict[str, Seen], request: pytest.FixtureRequest
) -> None:
    kept = user.haversack("save", ROTATION[0], ROTATION[1])
    assert kept.returncode == 0, kept.stderr
    before = settings(user)
    installed = user.haversack("install", host.name)
    assert installed.returncode == 0, installed.stderr
    assert "nothing to change" in user.haversack("install", host.name).stdout

    ran = user.run(*host.command(user, PROMPT))
    assert "Done." in ran.stdout, ran.stderr[-2_000:]
    assert any(name.endswith("mem_save") for name in model.tools), "the model was offered our tools"
    assert "haversack-recall" in model.everything_asked(), "what was recalled reached the model"
    assert "The JWT signing tokens rotate every hour" in json.dumps(model.requests[-1])

    sent = user.sent()
    assert {event for event, _, _ in sent} >= set(host.events)
    assert all(output == "" or json.loads(output) for _, _, output in sent)
    context = user.haversack("context", "--detail-level", "full").stdout
    assert SAVED["content"] in context, "the model's call reached the store"
    assert "Asked: " in context and context.count(PROMPT) == 2 and LEARNING in context
    assert "haversack-recall" not in context
    log = user.data / "logs/hooks.log"
    assert not log.exists(), log.read_text()

    assert user.haversack("uninstall", host.name).returncode == 0
    after = settings(user)
    assert {name: after.get(name) for name in before} == before
    left = user.run(*host.command(user, "Is anything left?"))
    assert left.returncode == 0 and len(user.sent()) == len(sent), "no hook fires any more"
    seen[host.name] = Seen(host.version(), tuple(dict.fromkeys(event for event, _, _ in sent)), len(model.tools))
    if request.config.getoption("--record-hosts"):
        record(host, user, sent)
