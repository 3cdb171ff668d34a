"""What is published says one version, and parses."""

import json
from pathlib import Path
from typing import Any

import pytest

from haversack.version import __version__

ROOT = Path(__file__).parents[1]


def test_every_manifest_states_the_version_of_the_package() -> None:
    server: dict[str, Any] = json.loads((ROOT / "packaging" / "server.json").read_text(encoding="utf-8"))
    bundle: dict[str, Any] = json.loads((ROOT / "packaging" / "mcpb" / "manifest.json").read_text(encoding="utf-8"))
    assert server["version"] == server["packages"][0]["version"] == bundle["version"] == __version__


def test_the_package_is_marked_as_typed() -> None:
    assert (ROOT / "src" / "haversack" / "py.typed").exists()


def test_the_workflows_are_yaml_with_jobs() -> None:
    yaml = pytest.importorskip("yaml")
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        assert yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"], path.name


def test_every_page_of_the_documentation_is_in_the_site() -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    missing = [page.name for page in (ROOT / "docs").glob("*.md") if f": {page.name}" not in settings]
    assert missing == []
