"""Nothing outside a tree is read, written, listed or waited for, whatever stands in the path."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from haversack import files
from haversack.files import FileTooLarge, LinkRefused, NotRegular, RefusedPath, Tree, open_regular, read_small

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")


@pytest.fixture(params=["descriptors", "checked paths"])
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> Tree:
    """A tree in each of the two ways of opening, beside a folder with a secret."""
    root = tmp_path / "root"
    (root / "inner").mkdir(parents=True)
    (root / "inner" / "plain.txt").write_text("plain")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "plain.txt").write_text("secret")
    opened = Tree(str(root))
    if request.param == "checked paths":
        opened._folders = files._CheckedPaths(str(root))
    return opened


OPERATIONS: dict[str, Callable[[Tree, str], object]] = {
    "read": lambda tree, path: tree.read(path),
    "facts": lambda tree, path: tree.facts(path),
    "write": lambda tree, path: tree.write(path, b"new"),
    "remove": lambda tree, path: tree.remove(path),
    "lock": lambda tree, path: tree.open_lock(path),
    "folders": lambda tree, path: tree.make_folders(f"{path}/new"),
    "names": lambda tree, path: tree.names(path.rpartition("/")[0]),
    "entries": lambda tree, path: tree.entries(path.rpartition("/")[0]),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_folder_that_is_a_link_is_not_entered(operation: str, tree: Tree) -> None:
    (Path(tree.root) / "out").symlink_to("../outside")
    with tree, pytest.raises(LinkRefused):
        OPERATIONS[operation](tree, "out/plain.txt")
    outside = Path(tree.root).parent / "outside"
    assert [each.name for each in outside.iterdir()] == ["plain.txt"]
    assert (outside / "plain.txt").read_text() == "secret"


@pytest.mark.parametrize("operation", ["read", "write", "lock"])
def test_a_file_that_is_a_link_is_refused_even_when_it_stays_inside(operation: str, tree: Tree) -> None:
    (Path(tree.root) / "link.txt").symlink_to("inner/plain.txt")
    with tree, pytest.raises(LinkRefused, match="link"):
        OPERATIONS[operation](tree, "link.txt")
    assert (Path(tree.root) / "inner" / "plain.txt").read_text() == "plain"


@pytest.mark.parametrize(
    "path", ["../outside/plain.txt", "/etc/passwd", "inner/../../outside/plain.txt", "a\0b", "./x"]
)
def test_a_path_that_is_not_plainly_inside_is_refused(path: str, tree: Tree) -> None:
    with tree, pytest.raises(RefusedPath):
        tree.read(path)


@pytest.mark.parametrize("operation", ["read", "write", "lock"])
def test_a_pipe_is_refused_and_never_waited_for(operation: str, tree: Tree) -> None:
    os.mkfifo(Path(tree.root) / "pipe")
    with tree, pytest.raises(NotRegular, match="pipe"):
        OPERATIONS[operation](tree, "pipe")
    assert read_small(str(Path(tree.root) / "pipe")) == b""
    with pytest.raises(NotRegular):
        open_regular("/dev/null")


def test_a_folder_is_no_file(tree: Tree) -> None:
    with tree, pytest.raises(NotRegular, match="folder"):
        tree.read("inner")


def test_a_file_larger_than_asked_for_is_refused_without_being_read(tree: Tree) -> None:
    with open(Path(tree.root) / "sparse", "wb") as file:
        file.truncate(1 << 40)
    with tree, pytest.raises(FileTooLarge, match=r"1,099,511,627,776"):
        tree.read("sparse")


def test_a_lock_on_a_file_with_another_name_is_refused(tree: Tree) -> None:
    os.link(Path(tree.root).parent / "outside" / "plain.txt", Path(tree.root) / "lock")
    with tree, pytest.raises(RefusedPath, match="hard link"):
        tree.open_lock("lock")


def test_content_is_written_listed_and_removed(tree: Tree) -> None:
    with tree:
        tree.make_folders("a/b")
        tree.write("a/b/text", b"one")
        tree.write("a/b/text", b"two")
        assert tree.read("a/b/text") == b"two"
        assert tree.entries("a/b") == [("text", "file")]
        assert sorted(tree.entries()) == [("a", "folder"), ("inner", "folder")]
        tree.remove("a/b/text")
        assert tree.names("a/b") == []
        assert not tree.exists("a/b/text")


SWAPPER = """
import os, sys
os.chdir(sys.argv[1])
print("ready", flush=True)
while True:
    os.rename("inner", "kept")
    os.symlink("../outside", "inner")
    os.unlink("inner")
    os.rename("kept", "inner")
"""


def test_no_read_leaves_the_tree_while_a_folder_is_swapped_for_a_link(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "inner").mkdir(parents=True)
    (root / "inner" / "plain.txt").write_text("plain")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "plain.txt").write_text("secret")
    swapper = subprocess.Popen([sys.executable, "-c", SWAPPER, str(root)], stdout=subprocess.PIPE)
    assert swapper.stdout
    swapper.stdout.readline()
    read: dict[bytes | str, int] = {}
    try:
        for _ in range(4_000):
            with Tree(str(root)) as tree:
                try:
                    content: bytes | str = tree.read("inner/plain.txt")
                except OSError as error:
                    content = type(error).__name__
                read[content] = read.get(content, 0) + 1
    finally:
        swapper.kill()
        swapper.communicate()
    assert b"secret" not in read
    assert read[b"plain"] > 0
