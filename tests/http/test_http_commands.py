"""The commands of this door, as real processes."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the extra http is not installed")


def haversack(home: Path, *typed: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "HAVERSACK_HOME": str(home)}
    return subprocess.run(
        [sys.executable, "-m", "haversack", *typed], capture_output=True, text=True, env=environment, timeout=60
    )


def test_a_token_is_shown_once_listed_without_its_secret_and_revoked(tmp_path: Path) -> None:
    added = haversack(tmp_path, "token", "add", "ci", "--scope", "write", "--project", "thesis", "--expires", "90d")
    assert added.returncode == 0
    secret = added.stdout.strip()
    assert re.fullmatch(r"hvk_[a-z0-9]{8}_[\w-]{43}", secret)
    listed = haversack(tmp_path, "token", "list").stdout
    assert "ci  write  project thesis, expires" in listed
    assert secret.split("_", 2)[2] not in listed
    assert haversack(tmp_path, "token", "add", "ci").returncode == 1, "a name is taken once"
    assert "revoked ci" in haversack(tmp_path, "token", "revoke", "ci").stdout
    assert "No token yet" in haversack(tmp_path, "token", "list").stdout
    assert haversack(tmp_path, "token", "revoke", "ci").returncode == 1


@pytest.mark.parametrize("wrong", [["--scope", "all"], ["--expires", "soon"], ["--expires", "-1d"], []])
def test_a_wrong_token_command_says_what_is_wrong(tmp_path: Path, wrong: list[str]) -> None:
    done = haversack(tmp_path, "token", "add", *(["x", *wrong] if wrong else ["", *wrong]))
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    assert done.stderr.strip()


@pytest.mark.parametrize(
    ("typed", "missing"),
    [
        (["--http", "0.0.0.0:0"], ["--allowed-host", "--tls-cert"]),
        (["--http", "0.0.0.0:0", "--allowed-host", "memory.example"], ["--behind-tls"]),
        (["--http", "0.0.0.0:0", "--behind-tls"], ["--allowed-host"]),
        (["--http", "127.0.0.1:0", "--tls-cert", "x"], ["belong together"]),
        (["--http", "127.0.0.1:0", "--tls-cert", "no", "--tls-key", "no"], ["certificate"]),
        (["--http", "99999"], ["[HOST:]PORT"]),
        (["--http", "203.0.113.7:7420", "--allowed-host", "a", "--behind-tls"], ["cannot listen"]),
    ],
)  # fmt: skip
def test_a_server_that_would_not_be_safe_does_not_start(tmp_path: Path, typed: list[str], missing: list[str]) -> None:
    done = haversack(tmp_path, "serve", *typed)
    assert done.returncode == 1
    assert all(word in done.stderr for word in missing), done.stderr


def test_a_taken_port_is_told(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = haversack(tmp_path, "serve", "--http", str(taken.getsockname()[1]))
    assert done.returncode == 1
    assert "is taken" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGTERM")
@pytest.mark.parametrize("command", [["serve", "--http", "0"], ["web", "--http", "0"]])
def test_a_server_starts_says_where_and_ends_with_a_signal(tmp_path: Path, command: list[str]) -> None:
    environment = {**os.environ, "HAVERSACK_HOME": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-m", "haversack", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stderr is not None
    assert process.stdout is not None
    line = process.stderr.readline()
    found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
    assert found, line
    assert str(tmp_path / "http-token") in line
    from http.client import HTTPConnection

    connection = HTTPConnection("127.0.0.1", int(found[1]), timeout=30)
    if command[0] == "web":
        address = process.stdout.readline().strip()
        code = address.partition("#k=")[2]
        body = json.dumps({"code": code})
        connection.request("POST", "/session", body, {"content-type": "application/json"})
        reply = connection.getresponse()
        reply.read()
        assert reply.status == 204
    token = (tmp_path / "http-token").read_text().strip()
    connection.request("GET", "/api/v1/tools/mem_stats", headers={"authorization": f"Bearer {token}"})
    assert connection.getresponse().status == 200
    connection.close()
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    assert token.split("_", 2)[2] not in process.stderr.read() + process.stdout.read()


def test_the_core_does_not_load_what_only_this_door_needs(tmp_path: Path) -> None:
    script = "import sys, haversack.cli, haversack.mcp.conversation, haversack.stdio.server; print([m for m in ('uvicorn', 'asyncio', 'joserfc', 'haversack.web') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]"
