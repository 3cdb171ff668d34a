"""The library's interface: `Memory` and `AsyncMemory`, typed values over the one road every door takes.

with Memory(project="thesis") as memory:
    memory.save("Tokens rotate hourly", "We chose RS256", kind="decision", tags=["auth"])
    found = memory.search("how did we do the jwt auth", max_tokens=300)
    print(found.text, found.tokens, found.total)
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from haversack.app import App
from haversack.cancellation import Cancellation, watching
from haversack.config import load
from haversack.memory.search.search import by_ids, by_topic
from haversack.store.records import Observation
from haversack.tools.road.call import Options, call
from haversack.tools.road.deliver import Reply
from haversack.values import record, replace

if TYPE_CHECKING:
    from types import TracebackType

    from haversack.worklog.log import WorkLog

P = ParamSpec("P")
T = TypeVar("T")


@record
class Saved:
    """The result of a save: `outcome` is saved, updated (a new text of its topic) or duplicate."""

    id: int
    outcome: str
    message: str
    project: str
    session_id: str
    redacted: tuple[str, ...]


@record
class Found:
    """A reply within its budget, with the figures of its footer and the observations it shows.

    `left` counts what was left out, `price` is what reading it would cost, and `key` is how to go on.
    """

    text: str
    tokens: int
    shown: int
    total: int
    items: tuple[Observation, ...]
    left: int
    price: int
    key: str
    _continue: Callable[[str, int | None], "Found"]

    def more(self, max_tokens: int | None = None) -> "Found | None":
        """The next page; None when everything was shown."""
        return self._continue(self.key, max_tokens) if self.key else None


class Memory:
    """What is remembered about one project, under the Fit Contract; usable from many threads.

    Without a project, it is the one the directory belongs to. Anything wrong is a `haversack.errors.HaversackError`.
    """

    def __init__(
        self,
        *,
        project: str = "",
        home: str = "",
        directory: str | None = None,
        profile: str = "",
        account: str | None = None,
    ) -> None:
        config = load()
        if project:
            config = replace(config, memory=replace(config.memory, project=project))
        self._app = App(replace(config, home=home) if home else config)
        self._caller = self._app.caller(directory=directory, profile=profile, account=account)
        self.project = self._caller.memory.project()

    def __enter__(self) -> "Memory":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the store; closing again does nothing."""
        self._app.close()

    def save(
        self,
        title: str,
        content: str,
        *,
        kind: str = "",
        tags: Sequence[str] = (),
        topic_key: str = "",
        importance: float | None = None,
        session_id: str = "",
    ) -> Saved:
        """Remember something; the same topic key replaces the earlier text, which is kept."""
        facts = self._facts(
            "mem_save", title=title, content=content, project=self.project, kind=kind, tags=list(tags),
            topic_key=topic_key, importance=importance, session_id=session_id,
        )  # fmt: skip
        return Saved(
            id=_number(facts["id"]),
            outcome=str(facts["outcome"]),
            message=str(facts["message"]),
            project=str(facts["project"]),
            session_id=str(facts["session_id"]),
            redacted=_texts(facts["redacted"]),
        )

    def search(
        self,
        query: str,
        *,
        max_tokens: int | None = None,
        limit: int = 10,
        kind: str = "",
        tags: Sequence[str] = (),
        since: str = "",
        until: str = "",
        detail_level: str = "standard",
        everywhere: bool = False,
    ) -> Found:
        """The observations that answer a question, best first; `everywhere` looks beyond the project."""
        return self._found(
            "mem_search", query=query, max_tokens=max_tokens, limit=limit, kind=kind, tags=list(tags), since=since,
            until=until, detail_level=detail_level, project="" if everywhere else self.project,
        )  # fmt: skip

    def context(self, *, max_tokens: int | None = None, limit: int = 20) -> Found:
        """Where the project stands: pinned and recent observations, sessions and prompts."""
        return self._found("mem_context", project=self.project, max_tokens=max_tokens, limit=limit)

    def pack(self, *, max_tokens: int = 2_000, query: str = "", kind: str = "", tags: Sequence[str] = ()) -> Found:
        """The best of the project within a budget, as Markdown to paste into any assistant."""
        reply = self._call(
            "context_pack", Options(footer=False), project=self.project, max_tokens=max_tokens, query=query, kind=kind,
            tags=list(tags),
        )  # fmt: skip
        return self._as_found(reply)

    def get(self, identifier: int, *, max_tokens: int | None = None) -> Found:
        """One observation in full."""
        return self._found("mem_get_observation", id=identifier, max_tokens=max_tokens)

    def update(self, identifier: int, *, title: str | None = None, content: str | None = None) -> None:
        """Change an observation; the earlier text is kept."""
        self._facts("mem_update", id=identifier, title=title, content=content)

    def delete(self, identifier: int) -> None:
        """Forget an observation; `restore` brings it back."""
        self._facts("mem_delete", id=identifier)

    def restore(self, identifier: int) -> None:
        """Bring a deleted observation back."""
        self._facts("mem_update", id=identifier, restore=True)

    def more(self, key: str, *, max_tokens: int | None = None) -> Found:
        """What an earlier reply left out, by its key."""
        return self._found("more", key=key, max_tokens=max_tokens)

    def recent(self, kind: str = "", *, limit: int = 20, max_tokens: int | None = None) -> Found:
        """The observations of the project, newest first."""
        return self._found("list_observations", project=self.project, kind=kind, limit=limit, max_tokens=max_tokens)

    def by_topic(self, topic_key: str) -> Observation | None:
        """The observation that holds a topic of the project, if there is one."""
        return by_topic(self._caller.memory, topic_key, project=self.project)

    @property
    def log(self) -> "WorkLog":
        """The work log of this store, for `fit_messages`: what it takes out, `more` gives back."""
        return self._caller.log

    def call(self, tool: str, arguments: Mapping[str, object]) -> Reply:
        """Run any tool by name, as an agent would."""
        return call(self._caller, tool, arguments)

    def _call(self, tool: str, options: Options, **arguments: object) -> Reply:
        given = {name: value for name, value in arguments.items() if value not in (None, "", [])}
        return call(self._caller, tool, given, options)

    def _found(self, tool: str, **arguments: object) -> Found:
        return self._as_found(self._call(tool, Options(), **arguments))

    def _facts(self, tool: str, **arguments: object) -> dict[str, object]:
        from json import loads

        facts: dict[str, object] = loads(self._call(tool, Options(), format="json", **arguments).text)
        return facts

    def _as_found(self, reply: Reply) -> Found:
        identifiers = [int(name[1:]) for name in reply.names if name[:1] == "#" and name[1:].isdigit()]
        return Found(
            text=reply.text,
            tokens=reply.tokens,
            shown=reply.shown,
            total=reply.total,
            items=tuple(by_ids(self._caller.memory, identifiers)) if identifiers else (),
            left=reply.left.items if reply.left else 0,
            price=reply.left.price if reply.left else 0,
            key=reply.left.key if reply.left else "",
            _continue=lambda key, max_tokens: self.more(key, max_tokens=max_tokens),
        )


class AsyncMemory:
    """`Memory` for asyncio: each method awaits the same one in a worker thread; cancelling the await stops the work."""

    def __init__(
        self,
        *,
        project: str = "",
        home: str = "",
        directory: str | None = None,
        profile: str = "",
        account: str | None = None,
    ) -> None:
        self._memory = Memory(project=project, home=home, directory=directory, profile=profile, account=account)
        self.project = self._memory.project

    async def __aenter__(self) -> "AsyncMemory":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the store; closing again does nothing."""
        await _in_a_thread(self._memory.close)

    async def save(
        self,
        title: str,
        content: str,
        *,
        kind: str = "",
        tags: Sequence[str] = (),
        topic_key: str = "",
        importance: float | None = None,
        session_id: str = "",
    ) -> Saved:
        """As `Memory.save`."""
        return await _in_a_thread(
            self._memory.save, title, content, kind=kind, tags=tags, topic_key=topic_key, importance=importance,
            session_id=session_id,
        )  # fmt: skip

    async def search(
        self,
        query: str,
        *,
        max_tokens: int | None = None,
        limit: int = 10,
        kind: str = "",
        tags: Sequence[str] = (),
        since: str = "",
        until: str = "",
        detail_level: str = "standard",
        everywhere: bool = False,
    ) -> Found:
        """As `Memory.search`."""
        return await _in_a_thread(
            self._memory.search, query, max_tokens=max_tokens, limit=limit, kind=kind, tags=tags, since=since,
            until=until, detail_level=detail_level, everywhere=everywhere,
        )  # fmt: skip

    async def context(self, *, max_tokens: int | None = None, limit: int = 20) -> Found:
        """As `Memory.context`."""
        return await _in_a_thread(self._memory.context, max_tokens=max_tokens, limit=limit)

    async def pack(
        self, *, max_tokens: int = 2_000, query: str = "", kind: str = "", tags: Sequence[str] = ()
    ) -> Found:
        """As `Memory.pack`."""
        return await _in_a_thread(self._memory.pack, max_tokens=max_tokens, query=query, kind=kind, tags=tags)

    async def get(self, identifier: int, *, max_tokens: int | None = None) -> Found:
        """As `Memory.get`."""
        return await _in_a_thread(self._memory.get, identifier, max_tokens=max_tokens)

    async def update(self, identifier: int, *, title: str | None = None, content: str | None = None) -> None:
        """As `Memory.update`."""
        await _in_a_thread(self._memory.update, identifier, title=title, content=content)

    async def delete(self, identifier: int) -> None:
        """As `Memory.delete`."""
        await _in_a_thread(self._memory.delete, identifier)

    async def restore(self, identifier: int) -> None:
        """As `Memory.restore`."""
        await _in_a_thread(self._memory.restore, identifier)

    async def more(self, key: str, *, max_tokens: int | None = None) -> Found:
        """As `Memory.more`."""
        return await _in_a_thread(self._memory.more, key, max_tokens=max_tokens)

    async def recent(self, kind: str = "", *, limit: int = 20, max_tokens: int | None = None) -> Found:
        """As `Memory.recent`."""
        return await _in_a_thread(self._memory.recent, kind, limit=limit, max_tokens=max_tokens)

    async def by_topic(self, topic_key: str) -> Observation | None:
        """As `Memory.by_topic`."""
        return await _in_a_thread(self._memory.by_topic, topic_key)

    async def call(self, tool: str, arguments: Mapping[str, object]) -> Reply:
        """As `Memory.call`."""
        return await _in_a_thread(self._memory.call, tool, arguments)


async def _in_a_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The result of blocking work done in another thread, which stops when this await is cancelled."""
    import asyncio

    cancellation = Cancellation()

    def watched() -> T:
        with watching(cancellation):
            return work(*args, **kwargs)

    try:
        return await asyncio.to_thread(watched)
    except asyncio.CancelledError:
        cancellation.cancel()
        raise


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value


def _texts(value: object) -> tuple[str, ...]:
    assert isinstance(value, list)
    return tuple(map(str, value))
