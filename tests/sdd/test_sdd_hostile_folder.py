"""A cloned `sdd/` folder cannot make the tools touch anything outside it."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from haversack.errors import DamagedFile, HaversackError, OutsideRoot
from haversack.sdd.checks.change_context import check_context
from haversack.sdd.checks.repair import diagnose, mend
from haversack.sdd.documents.artifacts import Decision
from haversack.sdd.documents.decisions import record_decision
from haversack.sdd.documents.library import located
from haversack.sdd.flows.overview import overview
from tests.sdd.conftest import PROPOSAL

if TYPE_CHECKING:
    from tests.sdd.conftest import Desk

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
NOW = datetime(2026, 3, 1, tzinfo=UTC)
DECISION = Decision(context="c", decision="d", rationale="r")


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    path = outside / "authorized_keys"
    path.write_text("ssh-ed25519 AAAA secret")
    return path


def test_a_lock_that_is_a_link_leaves_its_target_alone(desk: "Desk", secret: Path) -> None:
    Path(desk.workspace, "sdd").mkdir()
    Path(desk.workspace, "sdd", ".lock").symlink_to(secret)
    with pytest.raises(OutsideRoot, match="link"):
        record_decision(desk.workspace, title="t", content=DECISION, now=NOW)
    assert secret.read_text() == "ssh-ed25519 AAAA secret"


@pytest.mark.parametrize("name", ["design.md", "sdd.json", "proposal.md", "adrs/001-a.md", "changes/a/change.json"])
def test_an_artifact_that_is_a_link_is_never_shown_or_copied(name: str, desk: "Desk", secret: Path) -> None:
    desk.upto("propose")
    path = Path(desk.workspace, "sdd", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(secret)
    shown = []
    for ask in (
        lambda: overview(desk.workspace),
        lambda: check_context(desk.workspace, "ssh-ed25519 secret"),
        lambda: mend(desk.workspace, now=NOW),
        lambda: diagnose(desk.workspace),
        lambda: desk.propose(PROPOSAL, reopen=True),
    ):
        try:
            shown.append(repr(ask()))
        except HaversackError as error:
            shown.append(str(error))
    kept = [
        each.read_text() for each in Path(desk.workspace, "sdd").rglob("*") if each.is_file() and not each.is_symlink()
    ]
    assert not any("AAAA" in text for text in (*shown, *kept))
    assert secret.read_text() == "ssh-ed25519 AAAA secret"


def test_a_plan_folder_that_is_a_link_is_not_written_into(desk: "Desk", secret: Path) -> None:
    Path(desk.workspace, "sdd").symlink_to(secret.parent)
    with pytest.raises(DamagedFile, match="link"):
        desk.init()
    with pytest.raises(DamagedFile, match="link"):
        record_decision(desk.workspace, title="t", content=DECISION, now=NOW)
    assert [each.name for each in secret.parent.iterdir()] == ["authorized_keys"]


@pytest.mark.parametrize("name", ["history", "adrs", "changes"])
def test_a_folder_of_the_plan_that_is_a_link_is_not_written_into(name: str, desk: "Desk", secret: Path) -> None:
    desk.upto("propose")
    path = Path(desk.workspace, "sdd", name)
    path.symlink_to(secret.parent)
    for ask in (
        lambda: desk.propose(PROPOSAL, reopen=True),
        lambda: record_decision(desk.workspace, title="t", content=DECISION, now=NOW),
        desk.start_change,
        lambda: mend(desk.workspace, now=NOW),
    ):
        try:
            ask()
        except HaversackError:
            continue
    assert [each.name for each in secret.parent.iterdir()] == ["authorized_keys"]


@pytest.mark.parametrize("name", ["sdd.json", ".lock", "proposal.md"])
def test_a_pipe_in_the_plan_is_an_error_and_never_waited_for(name: str, desk: "Desk") -> None:
    desk.init()
    path = Path(desk.workspace, "sdd", name)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    with pytest.raises(DamagedFile, match="pipe"):
        desk.propose()


def test_a_giant_artifact_is_named_and_not_read(desk: "Desk") -> None:
    desk.upto("propose")
    with open(Path(desk.workspace, "sdd", "proposal.md"), "r+b") as file:
        file.truncate(1 << 40)
    with pytest.raises(DamagedFile, match=r"1,099,511,627,776 bytes"):
        located(desk.workspace).read("proposal.md")


def test_outside_a_repository_a_plan_above_the_workspace_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "sdd").mkdir()
    (tmp_path / "sdd" / "proposal.md").write_text("theirs")
    inner = tmp_path / "inner"
    inner.mkdir()
    assert located(str(inner)).root == str(inner)


def test_inside_a_repository_the_plan_at_its_top_is_used(desk: "Desk") -> None:
    desk.init()
    inner = Path(desk.workspace, "inner")
    inner.mkdir()
    assert located(str(inner)).root == desk.workspace
