"""What a run of the real hosts leaves behind: which versions were met, and, when asked for, what they sent."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from haversack.hosts.host import host_named
from tests.hosts.real.programs import Machine, RealHost

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/clients.md"
BEGIN, END = "<!-- written by make test-hosts -->", "<!-- end -->"
PAYLOADS = ROOT / "tests/hosts/payloads.json"
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass(frozen=True)
class Seen:
    """A host that was run: its version, the events it reported, and how many tools its model was offered."""

    version: str
    events: tuple[str, ...]
    tools: int


def write_page(seen: dict[str, Seen]) -> None:
    """Put the hosts that were run into docs/clients.md; those that were not keep their line."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    held, _, after = rest.partition(END)
    rows = dict(re.findall(r"^\| ([^|]+?) \|(.*)$", held, re.MULTILINE))
    day = datetime.now(UTC).date().isoformat()
    for name, found in seen.items():
        rows[host_named(name).title] = f" {found.version} | {day} | {', '.join(found.events)} |"
    rows = {title: row for title, row in rows.items() if title not in ("host", "---")}
    head = "| host | version | run on | hooks that fired |\n|---|---|---|---|\n"
    table = head + "".join(f"| {title} |{row}\n" for title, row in sorted(rows.items()))
    PAGE.write_text(f"{before}{BEGIN}\n{table}{END}{after}", encoding="utf-8")


def record(host: RealHost, user: Machine, sent: Sequence[tuple[str, dict[str, Any], str]]) -> None:
    """Keep the last payload of each event for the tests that run everywhere, without this machine's paths."""
    kept = json.loads(PAYLOADS.read_text(encoding="utf-8"))
    of_host = kept.setdefault(host.name, {})
    for event, payload, _ in sent:
        text = json.dumps(payload, ensure_ascii=False)
        for folder, name in ((user.project, "{cwd}"), (user.home, "{home}")):
            text = text.replace(str(folder), name)
        text = re.sub(r"/projects/-[^/]+/", "/projects/-work/", text)
        of_host[event] = json.loads(_ID.sub("0f6a2d1e-5d3c-4c57-9d7e-4a4a2f0b1c11", text))
    kept["recorded"] = {**kept.get("recorded", {}), host.name: host.version()}
    PAYLOADS.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
