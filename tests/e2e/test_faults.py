"""Disks, files and clocks that fail: a clear message, nothing lost, and a doctor who says what to do."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import apsw
import pytest

from haversack.app import open_caller
from haversack.config import Config
from haversack.errors import NotFound, StoreDamaged
from haversack.protocol.client import StdioClient, own_server
from haversack.store.sqlite import health, schema
from haversack.tools.road.call import call
from tests.conftest import Clock
from tests.e2e.conftest import Server, call_of

Start = Callable[..., Server]
STORE = "haversack.db"
LONG = "The gateway listens on port 8080 and everything else about it was said in the meeting. " * 3


READING: dict[str, dict[str, object]] = {
    "mem_search": {"query": "gateway"},
    "mem_context": {},
    "mem_get_observation": {"id": 3},
    "mem_stats": {},
    "context_pack": {},
}


class Program:
    """The command line on a home of its own, run by someone to whom permissions apply."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home, self.folder = home, folder
        self.prefix: tuple[str, ...] = ()

    @property
    def store(self) -> Path:
        return self.home / STORE

    def run(self, *typed: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "HAVERSACK_HOME": str(self.home), "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.run(
            [*self.prefix, sys.executable, "-m", "haversack", *typed],
            env=environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def save(self, title: str) -> subprocess.CompletedProcess[str]:
        return self.run("save", "--title", title, "--content", LONG + title, "--project", "p")

    def fill(self, count: int, content: Callable[[], str] = lambda: LONG) -> None:
        """Save so many memories about the gateway, without starting the program for each."""
        caller = open_caller(Config(home=str(self.home)), directory=str(self.folder))
        for number in range(count):
            call(caller, "mem_save", {"title": f"Gateway {number}", "content": content(), "project": "p"})
        caller.app.close()

    def fails(self, *typed: str, saying: str) -> None:
        """The command ends with the code for errors and one message that a person can act on."""
        done = self.run(*typed)
        assert done.returncode == 1, done
        assert saying in done.stderr, done.stderr
        assert "Traceback" not in done.stderr
        assert done.stderr.count("\n") <= 2, done.stderr

    def doctor_says(self, remedy: str) -> None:
        done = self.run("doctor")
        assert done.returncode == 1, done
        assert remedy in done.stdout, done.stdout


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path / "home", tmp_path)


@pytest.fixture
def bound(program: Program) -> Program:
    """A program that permissions apply to: the superuser has to lay down the right to ignore them."""
    if os.name != "posix":
        pytest.skip("needs POSIX permissions")
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("the superuser ignores permissions, and setpriv is not there to change that")
        program.prefix = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
    return program


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only the superuser of a Linux system can mount a small disk")
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(folder)], capture_output=True)
    if made.returncode:
        pytest.skip(f"mount: {made.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_on_a_full_disk_saving_says_so_and_reading_goes_on(small_disk: Path, tmp_path: Path) -> None:
    program = Program(small_disk / "home", tmp_path)
    program.fill(4)
    with open(small_disk / "filler", "wb", buffering=0) as filler, pytest.raises(OSError, match="No space"):
        while True:
            filler.write(b"x" * 4096)
    program.fails("save", "--title", "t", "--content", LONG * 20, saying="no room left on the disk")
    found = program.run("search", "gateway", "--tokens", "120")
    assert found.returncode == 0, found
    assert "Gateway" in found.stdout
    assert "not kept" in found.stdout
    program.doctor_says("free some space")
    os.remove(small_disk / "filler")
    assert program.save("After").returncode == 0
    assert "5" in program.run("stats").stdout
    assert program.run("backup", str(tmp_path / "b.db")).returncode == 0


def test_a_server_lives_through_a_full_disk_and_keeps_what_it_acknowledges(small_disk: Path, tmp_path: Path) -> None:
    command = (sys.executable, "-m", "haversack", "serve")
    client = StdioClient(command, environment=own_server(str(small_disk / "home")), folder=str(tmp_path))
    client.shake_hands()
    kept: list[str] = []

    def save(title: str, size: int) -> bool:
        answer = client.call("mem_save", {"title": title, "content": os.urandom(size).hex(), "project": "p"})
        assert not answer.is_error or answer.text.startswith("store_full:"), answer.text
        if not answer.is_error:
            kept.append(title)
        return not answer.is_error

    while save(f"Gateway {len(kept)}", 20_000):
        found = client.call("mem_search", {"query": "gateway", "detail_level": "summary", "max_tokens": 100})
        assert "Gateway" in found.text
    (small_disk / "filler").write_bytes(b"")
    with open(small_disk / "filler", "wb", buffering=0) as filler, pytest.raises(OSError, match="No space"):
        while True:
            filler.write(b"x" * 4096)
    for number in range(20):
        assert "Gateway" in client.call("mem_context", {"detail_level": "summary", "max_tokens": 100 + number}).text
        save(f"Full {number}", 3_000)
    os.remove(small_disk / "filler")
    client.kill()
    found_titles = Program(small_disk / "home", tmp_path).run("list", "--limit", "200", "--json").stdout
    assert [title for title in kept if f'"{title}"' not in found_titles] == []
    assert health.examine(str(small_disk / "home" / STORE)).is_sound


def test_a_backup_for_which_there_is_no_room_is_not_called_one(small_disk: Path, program: Program) -> None:
    program.fill(4, lambda: os.urandom(40_000).hex())
    (small_disk / "filler").write_bytes(b"x" * 1_900_000)
    program.fails("backup", str(small_disk / "b.db"), saying="no room left")
    assert os.listdir(small_disk) == ["filler"]
    assert program.run("get", "4").returncode == 0


def test_a_limit_on_the_size_of_files_loses_nothing(program: Program) -> None:
    if os.name != "posix":
        pytest.skip("needs ulimit")
    program.fill(1)
    program.prefix = ("sh", "-c", 'ulimit -f 200; exec "$@"', "sh")
    program.fails("save", "--title", "t", "--content", LONG * 300, saying="the store")
    program.prefix = ()
    assert "Gateway" in program.run("search", "gateway").stdout
    assert program.run("doctor").returncode == 0
    assert program.save("After").returncode == 0


@pytest.mark.parametrize("folder_too", [False, True])
def test_a_read_only_store_is_read_and_writing_says_what_to_do(bound: Program, folder_too: bool) -> None:
    bound.fill(6)
    before = bound.store.read_bytes()
    bound.store.chmod(0o400)
    if folder_too:
        bound.home.chmod(0o500)
    try:
        found = bound.run("search", "gateway", "--tokens", "200")
        assert "Gateway" in found.stdout, found
        assert "not kept" in found.stdout
        assert "more(" not in found.stdout
        for reading in (("context",), ("get", "3"), ("context-pack",), ("timeline", "2"), ("stats",)):
            done = bound.run(*reading)
            assert done.returncode == 0, done
        bound.fails("save", "--title", "t", "--content", "c", saying="cannot be written")
        bound.doctor_says("chmod u+rw")
        assert bound.run("backup", str(bound.folder / "b.db")).returncode == 0
    finally:
        bound.home.chmod(0o700)
    assert bound.store.read_bytes() == before
    for each in bound.home.iterdir():
        each.chmod(0o600)
    assert bound.save("After").returncode == 0


def test_a_server_on_a_read_only_store_answers_and_admits_what_it_cannot_keep(
    bound: Program, environment: dict[str, str], tmp_path: Path
) -> None:
    bound.fill(6)
    bound.store.chmod(0o400)
    bound.home.chmod(0o500)
    messages = (
        call_of(1, "mem_search", query="gateway", max_tokens=200),
        call_of(2, "mem_search", query="gateway", max_tokens=200, format="json"),
        call_of(3, "mem_save", title="t", content="c"),
        call_of(4, "mem_get_observation", id=1),
    )
    try:
        done = subprocess.run(
            [*bound.prefix, sys.executable, "-m", "haversack", "serve"],
            input="".join(json.dumps(each) + "\n" for each in messages),
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
        )
    finally:
        bound.home.chmod(0o700)
    answers = {each["id"]: each["result"] for each in map(json.loads, done.stdout.splitlines())}
    assert "not kept" in answers[1]["content"][0]["text"]
    assert answers[1]["_meta"]["haversack/fit"]["tokens"] <= 200
    assert json.loads(answers[2]["content"][0]["text"])["more"]["key"] is None
    assert answers[3]["content"][0]["text"].startswith("store_read_only:")
    assert LONG.strip() in answers[4]["content"][0]["text"]
    assert done.stderr == ""


def test_a_home_that_cannot_be_written_is_named_with_the_way_out(bound: Program) -> None:
    bound.home.mkdir(mode=0o500)
    try:
        bound.fails("save", "--title", "t", "--content", "c", saying="HAVERSACK_HOME")
        bound.fails("search", "anything", saying="HAVERSACK_HOME")
        bound.doctor_says("chmod u+rwx")
    finally:
        bound.home.chmod(0o700)
    assert os.listdir(bound.home) == []


def test_a_store_from_a_newer_version_is_left_alone(program: Program) -> None:
    program.save("Gateway")
    connection = apsw.Connection(str(program.store))
    connection.pragma("user_version", schema.VERSION + 7)
    connection.close()
    before = program.store.read_bytes()
    for command in (("search", "gateway"), ("save", "--title", "t", "--content", "c"), ("export",)):
        program.fails(*command, saying="upgrade haversack")
    program.fails("backup", str(program.folder / "b.db"), saying="upgrade haversack")
    program.doctor_says("upgrade haversack")
    assert program.store.read_bytes() == before


def test_a_truncated_store_is_reported_and_a_backup_brings_it_back(program: Program) -> None:
    program.fill(20, lambda: LONG + os.urandom(2000).hex())
    backup = str(program.folder / "b.db")
    assert program.run("backup", backup).returncode == 0
    whole = program.store.read_bytes()
    program.store.write_bytes(whole[: len(whole) // 2 + 100])
    program.fails("search", "gateway", saying="is damaged")
    program.fails("save", "--title", "t", "--content", "c", saying="haversack doctor")
    program.doctor_says("restore-backup")
    assert program.store.read_bytes() == whole[: len(whole) // 2 + 100]
    program.fails("restore-backup", backup, saying="--force")
    assert program.run("restore-backup", backup, "--force").returncode == 0
    assert "20" in program.run("stats").stdout
    assert program.run("doctor").returncode == 0


@pytest.mark.parametrize("where", [0, 1, 3])
def test_a_store_with_rubbish_in_it_is_reported_and_not_made_worse(program: Program, where: int) -> None:
    program.fill(20, lambda: LONG + os.urandom(2000).hex())
    content = bytearray(program.store.read_bytes())
    at = len(content) * where // 4
    content[at : at + 30_000] = os.urandom(30_000)
    program.store.write_bytes(content)
    done = program.run("search", "gateway")
    assert done.returncode in (0, 1), done
    assert "unexpected" not in done.stderr
    examined = program.run("doctor")
    assert examined.returncode == 1, examined
    assert "restore-backup" in examined.stdout or "export" in examined.stdout
    program.fails("backup", str(program.folder / "b.db"), saying="damaged")
    assert not os.path.exists(program.folder / "b.db")


def test_rubbish_anywhere_in_a_store_is_named_as_damage_or_not_met_at_all(program: Program, tmp_path: Path) -> None:
    program.fill(12, lambda: LONG + os.urandom(2000).hex())
    whole = program.store.read_bytes()
    for seed in range(25):
        chance = Random(seed)
        size = chance.choice((300, 4_096, 30_000))
        at = chance.randrange(100, len(whole) - size)
        home = tmp_path / f"damaged{seed}"
        home.mkdir()
        (home / STORE).write_bytes(whole[:at] + chance.randbytes(size) + whole[at + size :])
        caller = open_caller(Config(home=str(home)), directory=str(home))
        for tool, arguments in READING.items():
            with suppress(StoreDamaged, NotFound):
                call(caller, tool, arguments)
        caller.app.close()


def test_a_clock_that_jumps_back_mixes_nothing_up(tmp_path: Path, clock: Clock) -> None:
    caller = open_caller(Config(home=str(tmp_path / "home")), directory=str(tmp_path), now=clock, own_account=True)
    for number in range(3):
        call(caller, "mem_save", {"title": f"Before {number}", "content": LONG, "project": "p"})
    clock.advance(days=-400)
    for number in range(3):
        call(caller, "mem_save", {"title": f"After {number}", "content": LONG + str(number), "project": "p"})
    shown = call(caller, "mem_timeline", {"observation_id": 3, "detail_level": "summary"}).text
    assert [line.split()[0] for line in shown.splitlines() if line.startswith("#")] == [f"#{n}" for n in range(1, 7)]
    cut = call(caller, "mem_search", {"query": "gateway", "max_tokens": 150})
    assert cut.left is not None
    clock.advance(days=-1)
    assert "gateway" in call(caller, "more", {"key": cut.left.key}).text
    call(caller, "mem_update", {"id": 1, "content": "renewed"})
    assert "renewed" in call(caller, "mem_get_observation", {"id": 1}).text
    caller.app.close()


DYING = f"""
import os, apsw
from haversack.protocol.client import StdioClient, own_server
from haversack.store.sqlite import health, schema
apsw.connection_hooks.append(
    lambda connection: connection.create_scalar_function("die", lambda: os.kill(os.getpid(), {int(signal.SIGKILL)}))
)
"""
SECOND = """
schema.MIGRATIONS = (*schema.MIGRATIONS, "ALTER TABLE observations ADD COLUMN extra; SELECT die(); DROP TABLE packs")
schema.VERSION = len(schema.MIGRATIONS)
"""
FIRST = """
schema.MIGRATIONS = (schema.MIGRATIONS[0] + "; SELECT die();",)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize("step", [FIRST, SECOND])
def test_a_migration_that_is_killed_leaves_the_store_as_it_was(program: Program, start: Start, step: str) -> None:
    if step is SECOND:
        program.save("Gateway")
    killed = start(before=DYING + step)
    killed.send(call_of(1, "mem_search", query="gateway"))
    assert killed.process.wait(timeout=60) == -signal.SIGKILL
    assert program.save("After").returncode == 0
    assert program.run("doctor").returncode == 0
    assert ("Gateway" in program.run("search", "gateway").stdout) == (step is SECOND)
    assert "After" in program.run("search", "after").stdout
