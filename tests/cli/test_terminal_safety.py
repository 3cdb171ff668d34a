"""What is stored cannot steer the terminal it is printed on."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from haversack.app import Caller
from haversack.terminal import neutralised
from haversack.tools.road.call import call

HOSTILE = "\x1b[2J\x1b]0;owned\x07 \x9b31m \u202egnp.exe \u2066x\u2069 \r over \x08\x7f"


def test_control_characters_and_overrides_are_shown_not_obeyed() -> None:
    shown = neutralised(HOSTILE)
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in shown)
    assert not set(shown) & set("\u202e\u2066\u2069")
    assert "\\x1b" in shown


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
def test_a_stored_escape_sequence_reaches_a_terminal_as_text(caller: Caller, tmp_path: Path) -> None:
    call(caller, "mem_save", {"title": f"Ports {HOSTILE}", "content": f"ports {HOSTILE}"})
    caller.app.close()
    parent, child = pty.openpty()
    done = subprocess.Popen(
        [sys.executable, "-m", "haversack", "get", "1"],
        stdout=child,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "NO_COLOR": "1", "TERM": "xterm"},
        cwd=tmp_path,
    )
    os.close(child)
    printed = b""
    try:
        while part := os.read(parent, 65_536):
            printed += part
    except OSError:
        """The other end was closed, which Linux reports as an error."""
    finally:
        os.close(parent)
    assert done.wait(timeout=60) == 0
    assert b"\\x1b[2J" in printed
    assert b"\x1b" not in printed
    assert "\u202e".encode() not in printed
