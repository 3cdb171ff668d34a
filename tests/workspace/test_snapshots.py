import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.errors import DamagedFile
from haversack.workspace.resuming import resume
from haversack.workspace.root import Workspace
from haversack.workspace.snapshots import Snapshot, SnapshotWriter

ROWS = st.lists(st.tuples(st.text(st.characters(codec="utf-8"), max_size=300), st.integers()), max_size=300)


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


@given(st.lists(st.binary(max_size=5), min_size=1), st.integers(1, 5))
def test_the_same_content_has_the_same_identity_however_it_was_cut(pieces: list[bytes], at: int) -> None:
    identities = set()
    for cut in (len(pieces), at):
        writer = SnapshotWriter("pairs")
        for start in range(0, len(pieces), cut):
            writer.identify(b"".join(each + b"\0" for each in pieces[start : start + cut]))
            writer.extend([(each.hex(), 0) for each in pieces[start : start + cut]])
        identities.add(Snapshot(writer.finish(), pair).identity)
    assert len(identities) == 1


def pairs_in(told: str) -> list[tuple[str, int]]:
    told_apart = told.split("\0")
    return [(name, int(value)) for name, value in zip(told_apart[::2], told_apart[1::2], strict=True)]


def compressing() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == "haversack-compress"]


def test_a_long_result_is_compressed_beside_and_read_as_a_short_one() -> None:
    rows = [(f"{number} " + "x" * 1_000, number) for number in range(2_000)]
    writers = []
    for batch in (7, 400):
        writers.append(SnapshotWriter("pairs"))
        for at in range(0, len(rows), batch):
            writers[-1].extend(rows[at : at + batch])
    assert len(compressing()) == 2
    snapshots = [Snapshot(writer.finish(), pair) for writer in writers]
    assert not compressing()
    for snapshot in snapshots:
        assert list(snapshot.items()) == rows
        assert list(snapshot.items(1_990)) == rows[1_990:]


def test_a_long_result_that_is_given_up_leaves_no_thread_behind() -> None:
    writer = SnapshotWriter("pairs")
    for number in range(2_000):
        writer.extend([("x" * 1_000, number)])
    (started,) = compressing()
    del writer
    started.join(10)
    assert not started.is_alive()


def test_a_chunk_that_could_not_be_compressed_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    writer = SnapshotWriter("pairs")
    for _ in range(20):
        writer.extend([("x" * 100_000, 1)])
    monkeypatch.setattr("haversack.workspace.snapshots.zlib.compress", fail)
    for _ in range(20):
        writer.extend([("x" * 100_000, 1)])
    monkeypatch.undo()
    with pytest.raises(MemoryError, match="could not be compressed"):
        writer.finish()


def fail(*_: object) -> bytes:
    raise MemoryError


def test_a_snapshot_that_is_damaged_or_of_an_unknown_kind_is_an_error() -> None:
    for data in (b"", b"nonsense", SnapshotWriter("pairs").finish()):
        with pytest.raises(DamagedFile):
            resume(data, Workspace("/nowhere"))
