"""The program as people run it: real processes, real pipes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from haversack.tokens import count_tokens

HAVERSACK = [sys.executable, "-m", "haversack"]


def run(*typed: str, given: str | bytes = b"", check: int = 0, cwd: Path | None = None) -> str:
    """What a command printed; it must end with the exit code expected."""
    done = subprocess.run(
        [*HAVERSACK, *typed],
        input=given.encode() if isinstance(given, str) else given,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))},
        cwd=cwd,
        check=False,
    )
    assert done.returncode == check, done.stderr.decode()
    return done.stdout.decode() + (done.stderr.decode() if check else "")


@pytest.fixture
def thesis(tmp_path: Path) -> Path:
    """A store with the decision everybody asks about, and eleven other memories."""
    content = "We chose JWT with RS256, signed by a key that rotates every hour."
    printed = run(
        "save", "--title", "Tokens rotate hourly", "--content", content, "--kind", "decision", "--project", "thesis",
        "--tag", "auth", cwd=tmp_path,
    )  # fmt: skip
    assert printed.startswith("saved #1 in project thesis")
    lines = run("export", cwd=tmp_path).splitlines()
    first = next(json.loads(line) for line in lines if '"observation"' in line)
    for number in range(11):
        other = {
            "uid": f"u{number}",
            "id": 2 + number,
            "position": 2 + number,
            "topic_key": "",
            "content_hash": f"h{number}",
        }
        lines.append(
            json.dumps(
                first | other | {"title": f"Note {number}", "content": f"Chapter {number} is written.", "tags": []}
            )
        )
    run("import", "-", given="\n".join(lines), cwd=tmp_path)
    return tmp_path


def test_a_key_from_one_process_is_good_in_the_next(thesis: Path) -> None:
    for command in (["search", "chapter", "--limit", "2"], ["list", "--limit", "2"], ["context", "--limit", "2"]):
        facts = json.loads(run(*command, "--json", cwd=thesis))
        rest = run("more", facts["more"]["key"], cwd=thesis)
        assert "Note" in rest and "📏" in rest


def test_standard_input_is_content(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    name = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", "-C", str(tmp_path), *name, "commit", "-q", "--allow-empty", "-m", "Grüße"], check=True)
    log = subprocess.run(["git", "-C", str(tmp_path), "log", "-3"], check=True, capture_output=True).stdout
    run("save", "--title", "Recent work", "--content", "-", given=log, cwd=tmp_path)
    assert "Grüße" in run("get", "1", cwd=tmp_path)


def test_standard_input_that_is_not_utf8_is_a_clear_error(tmp_path: Path) -> None:
    assert "not UTF-8" in run("save", "--title", "t", "--content", "-", given=b"\xff\xfe", check=1, cwd=tmp_path)


def test_output_into_a_pipe_has_no_colour_and_no_control_characters(thesis: Path) -> None:
    for command in (
        ["search", "jwt"],
        ["list"],
        ["context"],
        ["get", "1"],
        ["stats"],
        ["doctor"],
        ["--help"],
        ["demo"],
    ):
        assert "\x1b" not in run(*command, cwd=thesis)


def test_a_reader_that_stops_early_does_no_harm(thesis: Path) -> None:
    program = subprocess.Popen(
        [*HAVERSACK, "export"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=thesis,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))},
    )  # fmt: skip
    assert program.stdout is not None and program.stderr is not None
    program.stdout.close()
    assert program.wait() == 0
    assert program.stderr.read() == b""
    program.stderr.close()


def test_a_wrong_import_is_named_and_imports_nothing(tmp_path: Path) -> None:
    (tmp_path / "wrong.jsonl").write_text('{"type":"haversack","format":1}\n{"type":"poem"}\n', encoding="utf-8")
    assert "line 2 cannot be imported" in run("import", "wrong.jsonl", check=1, cwd=tmp_path)
    assert "cannot be read" in run("import", "none.jsonl", check=1, cwd=tmp_path)


def test_the_demo_shows_the_main_job_and_leaves_nothing_behind(tmp_path: Path) -> None:
    printed = run("demo", cwd=tmp_path)
    assert "JWT with RS256" in printed and "# Project Context: orchard" in printed and "📏" in printed
    assert not (tmp_path / "home").exists()
    for text in re.findall(r"\$ haversack search .*--token-budget (\d+)\n(.*?📏 ~\d+ tokens)", printed, re.DOTALL):
        assert count_tokens(text[1]) <= int(text[0])


def test_bash_completes_commands_and_options(tmp_path: Path) -> None:
    script = run("completion", "bash", cwd=tmp_path) + (
        '\nCOMP_WORDS=(haversack sear); COMP_CWORD=1; _haversack; echo "${COMPREPLY[@]}"'
        '\nCOMP_WORDS=(haversack search --tok); COMP_CWORD=2; _haversack; echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash"], input=script, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["search", "--token-budget --tokens"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("typed", [["search", "jwt"], ["export"], ["stats", "--json"], ["--help"]])
def test_output_that_cannot_be_written_is_an_error(thesis: Path, typed: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*HAVERSACK, *typed], stdout=full, stderr=subprocess.PIPE, cwd=thesis, check=False)
    assert done.returncode == 1
    assert b"output" in done.stderr and b"No space left" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="a shell that can close a stream")
def test_a_closed_output_does_not_keep_a_command_from_its_work(thesis: Path) -> None:
    command = f'"{sys.executable}" -m haversack save --title Closed --content "said to nobody" >&-'
    assert subprocess.run(["sh", "-c", command], cwd=thesis, check=False).returncode == 0
    assert "said to nobody" in run("search", "nobody", cwd=thesis)


@pytest.mark.parametrize(("command", "is_tidied"), [("serve", True), ("stats", False)])
def test_a_server_ends_as_programs_do_and_a_single_command_at_once(command: str, is_tidied: bool) -> None:
    script = (
        "import atexit, os, sys; from haversack.__main__ import program; "
        f"atexit.register(os.write, 2, b'tidied up'); sys.argv = ['haversack', {command!r}]; program()"
    )
    done = subprocess.run([sys.executable, "-c", script], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert (b"tidied up" in done.stderr) is is_tidied
