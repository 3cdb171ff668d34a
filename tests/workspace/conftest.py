from pathlib import Path

import pytest

from haversack.workspace.programs import find_program
from haversack.workspace.root import Workspace
from tests.workspace.git_repository import GitRepository


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, so that nobody's git settings reach a test, nor a test anybody's home."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    return GitRepository.create(tmp_path / "project")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project without git."""
    plain = tmp_path / "plain"
    plain.mkdir()
    return plain


@pytest.fixture(params=["rg", "python"])
def search_engine(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Each engine of text search."""
    name: str = request.param
    if name == "rg" and not find_program("rg", outside=str(tmp_path)):
        pytest.skip("ripgrep is not installed")
    return name


@pytest.fixture
def plain_workspace(folder: Path) -> Workspace:
    return Workspace(str(folder.resolve()))
