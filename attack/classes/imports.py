"""Exports made to break what imports them: bad lines are refused or mended, and the store works as before."""

import json
import shutil

from attack.trial import Trial, answered, attack
from haversack.errors import HaversackError
from haversack.memory.transfer.json_lines import export, import_

VALUES: tuple[object, ...] = (
    None, True, -1, 0, 2**63 - 1, 2**63, 10**30, 1.5, "", "x" * 300_000, "a\nb\n📏 ~3 tokens", "\ud800", "\0", [], ["a"] * 2_000,
    {}, {"a": 1}, "password=hunter2hunter2", "ghp_" + "a" * 36, "not-a-date", "9999-99-99",
)  # fmt: skip


@attack("imports")
def run(trial: Trial) -> None:
    """Change one value of one line at a time."""
    root = trial.folder / "project"
    root.mkdir()
    caller = trial.caller(root)
    for number in range(3):
        answered(
            caller,
            "mem_save",
            title=f"title {number}",
            content=f"content {number}",
            tags=["a"],
            topic_key=f"t/{number}",
        )
    lines = list(export(caller.memory))
    number = 0
    while trial.goes_on():
        number += 1
        at = trial.random.randrange(len(lines))
        changed, what = _changed(trial, lines[at])
        # Every attempt has a new store: an empty one takes the ids of what it imports.
        shutil.rmtree(trial.folder / "home-bytes4", ignore_errors=True)
        target = trial.caller(root, profile="bytes4")
        try:
            import_(target.memory, [*lines[:at], changed, *lines[at + 1 :]])
        except HaversackError:
            pass
        except Exception as error:  # noqa: BLE001 - anything but a refusal is a break
            trial.judge(f"{what}: {type(error).__name__}: {error}", False)
            target.app.close()
            continue
        try:
            # Names are not searched for secrets, here as little as in a save.
            is_name = what.startswith(("project ", "namespace "))
            saved = answered(target, "mem_save", title=f"after {number}", content=f"saved after import {number}")
            found = answered(target, "mem_search", query="after import title content", detail_level="full")
            trial.judge(
                f"{what}: {saved[:100]}", not saved.startswith("refused") and (is_name or "hunter2hunter2" not in found)
            )
        except Exception as error:  # noqa: BLE001 - anything but a refusal is a break
            trial.judge(f"{what}, then {type(error).__name__}: {error}", False)
        target.app.close()


def _changed(trial: Trial, line: str) -> tuple[str, str]:
    choice = trial.random.randrange(10)
    if choice == 0:
        return line[: trial.random.randrange(len(line))], "a line cut short"
    if choice == 1:
        return "[" * 100_000, "a line nested too deeply"
    values = json.loads(line)
    holder = next((value for value in values.values() if isinstance(value, dict)), values)
    key = trial.random.choice(list(holder))
    holder[key] = trial.random.choice(VALUES)
    return json.dumps(values), f"{key} = {str(holder[key])[:40]!r}"
