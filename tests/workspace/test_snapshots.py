import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.errors import DamagedFile
from haversack.workspace.resuming import resume
from haversack.workspace.root import Workspace
from haversack.workspace.snapshots import Snapshot, SnapshotWriter

ROWS = st.lists(st.tuples(st.text(max_size=300), st.integers()), max_size=300)


def pair(name: str, number: int) -> tuple[str, int]:
    return name, number


@given(rows=ROWS, batch=st.integers(1, 40), start=st.integers(0, 320), repeat=st.integers(1, 8))
def test_items_come_back_from_any_place_on(rows: list[tuple[str, int]], batch: int, start: int, repeat: int) -> None:
    rows = rows * repeat
    writer = SnapshotWriter("pairs")
    for at in range(0, len(rows), batch):
        writer.extend(rows[at : at + batch])
    snapshot = Snapshot(writer.finish(), pair)
    assert (snapshot.total, len(snapshot), snapshot.kind) == (len(rows), len(rows), "pairs")
    assert list(snapshot.items(start)) == rows[start:]
    assert snapshot.first(3) == rows[:3]


def test_a_snapshot_that_is_damaged_or_of_an_unknown_kind_is_an_error() -> None:
    for data in (b"", b"nonsense", SnapshotWriter("pairs").finish()):
        with pytest.raises(DamagedFile):
            resume(data, Workspace("/nowhere"))
