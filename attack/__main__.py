"""Run every class of attack and say what was tried and what held; the exit code is 1 when something broke."""

import argparse
import importlib
import os
import pkgutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

import attack.classes
from attack.trial import ATTACKS, Trial


def main() -> int:
    """Parse the options and run."""
    parser = argparse.ArgumentParser(prog="attack", description=__doc__)
    parser.add_argument("classes", nargs="*", help="classes to run; all without one")
    parser.add_argument("--count", type=int, default=1_000, help="attempts per class, at most")
    parser.add_argument("--seconds", type=float, default=60.0, help="time per class, at most")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for module in pkgutil.iter_modules(attack.classes.__path__):
        importlib.import_module(f"attack.classes.{module.name}")
    unknown = set(options.classes) - set(ATTACKS)
    if unknown:
        parser.error(f"no class {', '.join(sorted(unknown))}; there are {', '.join(sorted(ATTACKS))}")
    broken = 0
    for name in options.classes or sorted(ATTACKS):
        with tempfile.TemporaryDirectory(prefix="attack-", ignore_cleanup_errors=True) as folder:
            # Nothing an attack does may reach the home of whoever runs it.
            home = Path(folder, "user-home")
            home.mkdir()
            os.environ["HOME"] = str(home)
            trial = Trial(Path(os.path.realpath(folder)), options.count, options.seconds, options.seed)
            began = time.monotonic()
            try:
                ATTACKS[name](trial)
            except Exception:  # noqa: BLE001 - whatever gets out of a class is a break, and the others still run
                trial.judge(f"an unexpected error:\n{traceback.format_exc()[-1_500:]}", False)
        took = time.monotonic() - began
        print(f"{name:<14} {trial.tried:>6,} tried  {trial.tried - len(trial.breaks):>6,} held  {took:6.1f} s")
        for each in sorted(set(trial.breaks))[:20]:
            print(f"    broke: {each}")
        broken += len(trial.breaks)
        if not trial.tried:
            print("    nothing was tried")
            broken += 1
    print("everything held" if not broken else f"{broken:,} broke")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
