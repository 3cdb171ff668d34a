"""What is published says one version, and parses."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from haversack.version import __version__
from tools.recall_plot import panels, plot

ROOT = Path(__file__).parents[1]


def test_every_manifest_states_the_version_of_the_package() -> None:
    server: dict[str, Any] = json.loads((ROOT / "packaging" / "server.json").read_text(encoding="utf-8"))
    bundle: dict[str, Any] = json.loads((ROOT / "packaging" / "mcpb" / "manifest.json").read_text(encoding="utf-8"))
    assert server["version"] == server["packages"][0]["version"] == bundle["version"] == __version__


def test_the_readme_names_the_server_as_the_registry_asks_of_a_package() -> None:
    server: dict[str, Any] = json.loads((ROOT / "packaging" / "server.json").read_text(encoding="utf-8"))
    assert f"<!-- mcp-name: {server['name']} -->" in (ROOT / "README.md").read_text(encoding="utf-8")


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


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_the_picture_of_the_readme_is_drawn_from_what_commands_print() -> None:
    drawn = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "draw_terminal.py"), "-"], capture_output=True, text=True, check=True
    ).stdout
    rows = written_in(drawn)
    assert any(row.startswith("saved #11 in project orchard") for row in rows)
    assert sum(row.startswith("📏") for row in rows) == 2
    kept = written_in((ROOT / "docs" / "pictures" / "terminal.svg").read_text(encoding="utf-8"))
    assert [row for row in rows if row.startswith("$")] == [row for row in kept if row.startswith("$")]


def written_in(svg: str) -> list[str]:
    return ["".join(text.itertext()) for text in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_the_plot_of_recall_is_drawn_from_the_table_beside_it() -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    drawn = panels(page)
    assert len(drawn) >= 6 and all(len(each.plain) == len(each.ranking) == 5 for each in drawn)
    assert (ROOT / "docs" / "pictures" / "recall.svg").read_text(encoding="utf-8") == plot(page), "run make docs"
