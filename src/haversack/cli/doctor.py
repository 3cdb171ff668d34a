"""`doctor`: what is wrong with this installation and its store, and how to mend it."""

import os
import stat
from collections.abc import Callable

from haversack.cli import terminal
from haversack.config import Config, load
from haversack.errors import HaversackError
from haversack.values import asdict, record


@record
class Finding:
    """One thing that was looked at: whether it is well, what was seen, and what to do."""

    what: str
    well: bool
    seen: str
    remedy: str = ""


def run(*, mend: bool, as_json: bool) -> int:
    """Look at everything, print it, and return 0 when all is well, else 1."""
    found = examine(mend=mend)
    if as_json:
        import json

        terminal.show(json.dumps([asdict(each) for each in found], ensure_ascii=False, indent=1))
    else:
        for each in found:
            terminal.show(f"{'ok  ' if each.well else 'BAD '} {each.what}: {each.seen}")
            if each.remedy:
                terminal.show(f"     {each.remedy}")
    return 0 if all(each.well for each in found) else 1


def examine(*, mend: bool = False) -> list[Finding]:
    """Every finding, in the order in which problems should be mended."""
    try:
        config = load()
    except HaversackError as error:
        return [Finding("settings", False, error.message, error.hint or "mend the setting and try again")]
    findings = [Finding("settings", True, f"home is {config.home}"), _sqlite()]
    checks: list[Callable[[Config], Finding]] = [_home, _store_file]
    findings += [check(config) for check in checks]
    if not all(each.well for each in findings) or not os.path.exists(config.store_path):
        return findings
    return [*findings, *_store(config, mend=mend)]


def _sqlite() -> Finding:
    import apsw  # noqa: F401

    return Finding("SQLite", True, "")
