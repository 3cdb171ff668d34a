"""What holds on Windows, as far as it can be asked elsewhere."""

import ast
import os
import subprocess
import sys
from pathlib import Path, PureWindowsPath

import pytest

from haversack import processes
from haversack.config import default_home
from haversack.files import RefusedPath, parts_of
from haversack.user_folders import settings_folder

SOURCE = Path(__file__).parents[1] / "src" / "haversack"
HOME = {"USERPROFILE": r"C:\Users\Ana María", "HOME": "/c/Users/other"}


def test_the_store_is_in_the_users_local_data() -> None:
    usual = PureWindowsPath(default_home(HOME, "win32"))
    assert usual == PureWindowsPath(r"C:\Users\Ana María\AppData\Local\haversack")
    moved = PureWindowsPath(default_home({**HOME, "LOCALAPPDATA": r"D:\Local"}, "win32"))
    assert moved.drive == "D:" and moved.parts[1:] == ("Local", "haversack")


def test_the_settings_of_hosts_are_in_the_roaming_data() -> None:
    assert PureWindowsPath(settings_folder(HOME, "win32")) == PureWindowsPath(r"C:\Users\Ana María\AppData\Roaming")
    assert settings_folder({**HOME, "APPDATA": r"E:\Roaming"}, "win32") == r"E:\Roaming"


@pytest.mark.parametrize(
    "path",
    [
        "../up", "a/../b", "a//b", "C:/x", "c:x", "notes.txt:secret", r"a\..\b", r"\\server\share", "con", "Con.txt",
        "a/NUL", "lpt1.log", "COM¹", "aux .txt", "trailing.", "trailing ", "a\x01b", "a*b", "what?", "a|b", "<a>",
    ],
)  # fmt: skip
def test_a_path_that_windows_reads_as_another_is_refused(path: str) -> None:
    with pytest.raises(RefusedPath):
        parts_of(path, windows=True)


@pytest.mark.parametrize("path", ["notes/größe.md", "console.txt", "common/a b.txt", ".gitignore", "com10"])
def test_an_ordinary_path_stays_below_its_folder(path: str) -> None:
    root = PureWindowsPath(r"C:\work")
    assert root.joinpath(*parts_of(path, windows=True)).is_relative_to(root)
    assert not any(PureWindowsPath(part).is_absolute() for part in parts_of(path, windows=True))


def test_a_program_is_found_by_the_name_people_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "npx"
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert processes.program_path("npx", "win32") == str(program)
    assert processes.program_path("none-such", "win32") == "none-such"
    assert processes.program_path("npx", "linux") == "npx"


def test_whether_a_process_runs_is_told_without_touching_it() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert processes.is_running(os.getpid())
    assert not processes.is_running(ended.pid)


@pytest.mark.parametrize(
    ("names", "owner"),
    [
        ({"msvcrt", "fcntl.flock", "fcntl.lockf"}, {"sdd/documents/lock.py"}),
        ({"os.kill", "os.killpg", "signal.signal", "signal.SIGKILL"}, {"processes.py", "gateway/upstream/watchdog.py"}),
        ({"ctypes.WinDLL"}, {"windows_processes.py"}),
    ],
    ids=["locks", "signals", "system calls"],
)
def test_what_differs_between_platforms_is_in_one_module(names: set[str], owner: set[str]) -> None:
    using = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                used = {f"{node.value.id}.{node.attr}"}
            elif isinstance(node, ast.Import):
                used = {each.name for each in node.names}
            else:
                continue
            if used & names:
                using.add(path.relative_to(SOURCE).as_posix())
    assert using == owner
