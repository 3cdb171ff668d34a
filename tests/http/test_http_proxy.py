"""Behind nginx, set up as the documentation says."""

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from haversack.config import HttpSettings
from haversack.values import replace
from tests.http.serving import MCP_HEADERS, UNHURRIED, Served, serving

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
DOCUMENT = Path(__file__).parents[2] / "docs" / "server.md"
SETTINGS: HttpSettings = replace(UNHURRIED, allowed_hosts=("memory.example",), public_url="https://memory.example")

pytestmark = pytest.mark.skipif(not NGINX, reason="no nginx")


@pytest.fixture
def proxied(tmp_path: Path) -> Iterator[Served]:
    """A server behind a proxy; requests go to the proxy."""
    with serving(str(tmp_path / "home"), SETTINGS, listening={"behind_tls": True}) as served, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        [location] = re.findall(r"```nginx\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        places = "".join(f"{kind}_temp_path {tmp_path}/{kind};" for kind in kinds)
        configuration = tmp_path / "nginx.conf"
        configuration.write_text(
            f"pid {tmp_path}/pid; error_log {tmp_path}/log; daemon off; events {{}} http {{ access_log off; {places}"
            f"server {{ listen 127.0.0.1:{port}; {location.replace('7420', str(served.port))} }} }}"
        )
        assert NGINX is not None
        running = subprocess.Popen([NGINX, "-c", configuration], stderr=subprocess.DEVNULL)
        try:
            while not _answers(port):
                assert running.poll() is None, (tmp_path / "log").read_text(encoding="utf-8")
                time.sleep(0.02)
            yield Proxied(served.server, served.app, served.home, served.token, proxy=port)
        finally:
            running.terminate()
            running.wait(30)


def _answers(port: int) -> bool:
    with socket.socket() as trying:
        return trying.connect_ex(("127.0.0.1", port)) == 0


class Proxied(Served):
    """What is sent goes to the proxy."""

    def __init__(self, *held: object, proxy: int) -> None:
        super().__init__(*held)  # type: ignore[arg-type]
        self.proxy = proxy

    @property
    def port(self) -> int:
        return self.proxy


def test_a_proxy_passes_calls_streams_and_refusals_on(proxied: Served) -> None:
    ours = {"host": "memory.example"}
    assert proxied.get("/healthz", headers=ours, token="").text == "ok"
    assert proxied.get("/healthz", headers={"host": "evil.example"}).status == 421
    assert proxied.get("/api/v1/tools", headers=ours, token="").status == 401
    for origin, status in (("https://memory.example", 200), ("https://evil.example", 403)):
        assert proxied.get("/api/v1/tools/mem_stats", headers=ours | {"origin": origin}).status == status
    params = {"name": "mem_stats", "arguments": {}, "_meta": {"progressToken": "t"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    streamed = proxied.message(message, headers=MCP_HEADERS | ours)
    assert streamed.headers["content-type"] == "text/event-stream"
    assert "observations" in streamed.text
    signed = proxied.send("POST", "/session", body="{}", headers=ours | {"content-type": "application/json"})
    assert signed.headers["set-cookie"].startswith("__Host-")
    assert "; Secure" in signed.headers["set-cookie"]
