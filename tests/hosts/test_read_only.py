"""Folders and files that may only be read: hosts do not notice, and whoever installs is told what is wrong."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from haversack.config import Config
from tests.hosts.test_adversity import EVENTS
from tests.hosts.test_hooks import asked, remember
from tests.hosts.test_install import environment, files

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="modes of files are tried as Linux has them")
_DROP, _OVERRIDE = 24, 1
"""`PR_CAPBSET_DROP` and `CAP_DAC_OVERRIDE`: without it modes hold for root too."""


def without_override() -> None:
    """Run in the child before its program starts: it may then write only what its mode allows."""
    if os.geteuid() == 0:
        import ctypes

        ctypes.CDLL(None).prctl(_DROP, _OVERRIDE, 0, 0, 0)


def ran(*typed: str, sent: str = "", env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "haversack", *typed], input=sent, capture_output=True, text=True, check=False,
        env=env or dict(os.environ), preexec_fn=without_override,
    )  # fmt: skip


@contextmanager
def closed(*paths: Path) -> Iterator[None]:
    """The paths without the right to write, for as long as the block lasts."""
    modes = {path: path.stat().st_mode for path in paths}
    for path, mode in modes.items():
        path.chmod(mode & ~0o222)
    try:
        written = subprocess.run(["/bin/sh", "-c", f": >> '{paths[0]}/x'"], preexec_fn=without_override, check=False)
        if paths[0].is_dir() and written.returncode == 0:
            pytest.skip("modes do not hold here")
        yield
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


@pytest.mark.parametrize("what", ["the home", "the store's file"])
def test_hooks_leave_a_store_that_may_only_be_read_alone(what: str, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    remember(folder, "Signing tokens rotate hourly", "The signing tokens rotate every hour.")
    home = tmp_path / "home"
    store = Path(Config(home=str(home)).store_path)
    held = store.read_bytes()
    sent = json.dumps({"session_id": "r", "cwd": str(folder), "prompt": "When do our signing tokens rotate?"})
    with closed(*([home, *home.iterdir()] if what == "the home" else [store, *home.glob(f"{store.name}-*")])):
        for event in EVENTS:
            done = ran("hook", event, "--client", "claude-code", sent=sent)
            assert (done.returncode, done.stderr) == (0, ""), event
            assert done.stdout == "" or json.loads(done.stdout)
    assert store.read_bytes() == held
    assert "rotate every hour" in asked(folder, "mem_search", query="signing tokens")


@pytest.mark.parametrize("host", ["gemini", "cursor", "codex", "copilot"])
def test_installing_into_a_folder_that_may_only_be_read_says_so_and_changes_nothing(host: str, tmp_path: Path) -> None:
    user = tmp_path / "user"
    folder = user / f".{host}"
    folder.mkdir(parents=True)
    (folder / "own.txt").write_text("mine")
    before = files(user)
    with closed(folder):
        refused = ran("install", host, env=environment(user))
        assert refused.returncode == 1 and "Traceback" not in refused.stderr
        assert f"{folder}" in refused.stderr and "cannot be written: Permission denied" in refused.stderr
    assert {name: held for name, held in files(user).items() if not name.startswith("data")} == before
    assert ran("uninstall", host, env=environment(user)).returncode == 0, "nothing is left to take back"


def test_installing_from_a_home_that_may_only_be_read_changes_no_host(tmp_path: Path) -> None:
    user = tmp_path / "user"
    (user / ".gemini").mkdir(parents=True)
    (user / "data" / "haversack").mkdir(parents=True)
    before = files(user)
    with closed(user / "data" / "haversack"):
        refused = ran("install", "gemini", env=environment(user))
        assert refused.returncode == 1 and "cannot be written: Permission denied" in refused.stderr
        assert "HAVERSACK_HOME" in refused.stderr
    assert files(user) == before
