"""The library's face: typed values, many threads, asyncio, and errors of the one tree."""

import asyncio
import inspect
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from haversack import AsyncMemory, Memory
from haversack.errors import HaversackError, InvalidArgument, NotFound
from haversack.tokens import count_tokens


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HAVERSACK_HOME", str(tmp_path / "unused"))
    return str(tmp_path / "home")


def test_what_is_saved_is_found_with_the_figures_of_the_footer(home: str) -> None:
    with Memory(project="thesis", home=home) as memory:
        saved = memory.save("Tokens rotate hourly", "We chose RS256", kind="decision", tags=["auth"])
        assert (saved.outcome, saved.project, saved.redacted) == ("saved", "thesis", ())
        found = memory.search("how did the tokens rotate", max_tokens=300)
        assert [(item.id, item.title, item.tags) for item in found.items] == [
            (saved.id, "Tokens rotate hourly", ("auth",))
        ]
        assert (found.shown, found.total, found.left, found.more()) == (1, 1, 0, None)
        assert found.tokens == count_tokens(found.text) <= 300


def test_following_more_gives_every_item_once(home: str) -> None:
    with Memory(project="thesis", home=home) as memory:
        for number in range(40):
            memory.save(f"Note {number}", f"The harbour has crane number {number}. " + "It lifts. " * 20)
        page = memory.search("harbour crane", max_tokens=300, limit=200)
        assert page.left > 0 and page.price > 0
        seen = [item.id for item in page.items]
        while (page := page.more(400)) is not None:  # type: ignore[assignment]
            assert page.tokens <= 400
            seen += [item.id for item in page.items]
        assert sorted(seen) == list(range(1, 41))


def test_a_search_keeps_to_its_project_unless_asked(home: str) -> None:
    with Memory(project="thesis", home=home) as thesis, Memory(project="shop", home=home) as shop:
        shop.save("Harbour", "The harbour is closed.")
        assert thesis.search("harbour").total == 0
        assert thesis.search("harbour", everywhere=True).total == 1


def test_changes_can_be_undone(home: str) -> None:
    with Memory(project="thesis", home=home) as memory:
        saved = memory.save("Port", "The port is 5432.")
        memory.update(saved.id, content="The port is 6543.")
        assert "6543" in memory.get(saved.id).text
        memory.delete(saved.id)
        assert memory.search("port").total == 0
        memory.restore(saved.id)
        assert memory.search("port").total == 1


def test_a_pack_is_text_to_paste_within_its_budget(home: str) -> None:
    with Memory(project="thesis", home=home) as memory:
        for number in range(30):
            memory.save(f"Decision {number}", "We decided. " * 30, kind="decision")
        pack = memory.pack(max_tokens=500)
        assert pack.text.startswith("# Project Context") and "📏" not in pack.text
        assert count_tokens(pack.text) <= 500


def test_errors_are_of_one_tree_and_closing_twice_is_safe(home: str) -> None:
    memory = Memory(project="thesis", home=home)
    with pytest.raises(NotFound):
        memory.get(99)
    with pytest.raises(InvalidArgument):
        memory.search("x", max_tokens=3)
    with pytest.raises(HaversackError):
        memory.call("no_such_tool", {})
    memory.close()
    memory.close()


def test_many_threads_may_use_one_memory(home: str) -> None:
    with Memory(project="thesis", home=home) as memory, ThreadPoolExecutor(8) as threads:
        saved = list(threads.map(lambda n: memory.save(f"Note {n}", f"Only crane {n} lifts").id, range(64)))
        assert len(set(saved)) == 64
        found = list(threads.map(lambda n: memory.search(f"crane {n}", limit=1).items[0].title, range(64)))
        assert found == [f"Note {n}" for n in range(64)]


def test_the_async_face_has_every_method_of_the_other_with_the_same_parameters() -> None:
    def methods(face: type) -> dict[str, list[str]]:
        return {
            name: list(inspect.signature(method).parameters)
            for name, method in vars(face).items()
            if inspect.isfunction(method) and not name.startswith("_")
        }

    assert methods(AsyncMemory) == methods(Memory)


def test_the_async_face_answers_concurrently(home: str) -> None:
    async def session() -> list[int]:
        async with AsyncMemory(project="thesis", home=home) as memory:
            await asyncio.gather(*(memory.save(f"Note {n}", f"Crane {n}") for n in range(20)))
            replies = await asyncio.gather(*(memory.search(f"crane {n}") for n in range(20)))
            return [reply.total for reply in replies]

    assert asyncio.run(session()) == [20] * 20


def test_a_cancelled_await_stops_the_work(home: str, tmp_path: Path) -> None:
    """A search of files checks now and then whether somebody still waits."""
    for number in range(400):
        (tmp_path / f"file{number}.txt").write_text("nothing to see here\n" * 200)

    async def session() -> str:
        async with AsyncMemory(project="thesis", home=home, directory=str(tmp_path)) as memory:
            searching = asyncio.create_task(memory.call("search_content", {"pattern": "(n+o+t+)+h"}))
            await asyncio.sleep(0)
            searching.cancel()
            with pytest.raises(asyncio.CancelledError):
                await searching
            return (await memory.save("After", "The store still works.")).outcome

    assert asyncio.run(session()) == "saved"
