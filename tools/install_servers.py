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
PYTHON_SERVERS = ("mcp-server-git==2026.10.19", "mcp-server-time==2026.10.19")


def main() -> int:
    """Install into the folder `servers` of this Python's environment, unless it is there already."""
    FOLDER.mkdir(exist_ok=True)
    _attempt("node servers", FOLDER / "node_modules", _install_node)
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
    npm = shutil.which("npm")
    if npm is None:
        raise OSError("npm is not installed")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, FOLDER / name)
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
    subprocess.run([npm, "ci", "--prefix", str(FOLDER), *quiet], check=True, timeout=600)


def _install_python() -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--target", str(FOLDER / "python"), *PYTHON_SERVERS], check=True, timeout=600)


if __name__ == "__main__":
    sys.exit(main())
