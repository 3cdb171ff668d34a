"""The rights of a caller: the scope a call needs, and the project or namespace a caller is limited to."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence

from haversack.app import Caller
from haversack.errors import ExpiredKey, Forbidden, InvalidArgument, NotFound
from haversack.memory.projects.identity import project_key
from haversack.memory.relations import relations_of
from haversack.store import observations
from haversack.store.records import Observation
from haversack.tools.declaration import ALIASES, Tool
from haversack.tools.road.fit import Reply
from haversack.tools.road.validation import convert
from haversack.web.identity import Identity

ADMIN_TOOLS = {"export_memories", "import_memories", "backup", "restore_backup"}
"""Tools that reach everything at once."""
BY_ID: Mapping[str, tuple[str, ...]] = {
    "mem_get_observation": ("id",),
    "mem_timeline": ("observation_id",),
    "mem_build_context": ("observation_id",),
    "observation_history": ("id",),
    "mem_update": ("id",),
    "mem_delete": ("id",),
    "mem_relate": ("from_id", "to_id"),
}
"""Tools about single observations, by the parameters that name them."""
HARMLESS = {"mem_suggest_topic_key", "more"}
"""Tools that show nothing of the store by themselves; keys are checked apart."""
MOST_KEYS = 10_000


def scope_for(tool: Tool, arguments: Mapping[str, object]) -> str:
    """The scope a call needs."""
    if tool.name in ADMIN_TOOLS or (tool.name == "mem_delete" and _is_true(tool, arguments.get("hard"))):
        return "admin"
    return "write" if tool.writes else "read"


def _is_true(tool: Tool, value: object) -> bool:
    if value is None:
        return False
    parameter = next(each for each in tool.parameters if each.name == "hard")
    try:
        return bool(convert(parameter, value))
    except InvalidArgument:
        return True  # refused later; until then the stricter scope applies


class Limits:
    """Keeps callers with a limit inside it; those without pass unchanged."""

    def __init__(self) -> None:
        self._keys: OrderedDict[tuple[str, str], None] = OrderedDict()

    def applied(
        self, who: Identity, caller: Caller, tool: Tool, arguments: Mapping[str, object]
    ) -> Mapping[str, object]:
        """The arguments with the caller's project and namespace added; anything outside is not found."""
        if not who.is_limited:
            return arguments
        given = {ALIASES.get(name, name): value for name, value in arguments.items() if value is not None}
        names = {parameter.name for parameter in tool.parameters}
        if tool.name == "more":
            self._check_key(who, str(given.get("key", "")))
        elif tool.name in BY_ID:
            self._check_ids(who, caller, [given.get(name) for name in BY_ID[tool.name]])
            _check_named(who, given)
        elif tool.name not in HARMLESS:
            return self._filtered(who, caller, tool, given, names)
        return arguments

    def checked(self, who: Identity, caller: Caller, reply: Reply) -> Reply:
        """The reply, checked to show nothing outside the caller's limit."""
        if not who.is_limited:
            return reply
        ids = [int(name[1:]) for name in reply.names if name.startswith("#") and name[1:].isdigit()]
        for observation in _by_id(caller, ids).values():
            if not _is_inside(who, observation):
                raise NotFound("the reply reaches outside this token's limit", hint="ask with a narrower filter")
        if reply.left and reply.left.key:
            self._keys[(who.id, reply.left.key)] = None
            if len(self._keys) > MOST_KEYS:
                self._keys.popitem(last=False)
        return reply

    def _filtered(
        self, who: Identity, caller: Caller, tool: Tool, given: dict[str, object], names: set[str]
    ) -> Mapping[str, object]:
        needed = {"project"} if who.project else set()
        if who.namespace is not None:
            needed.add("namespace")
        if not needed <= names or tool.group in ("workspace", "sdd", "budget") or "session_id" in given:
            raise Forbidden(
                f"{tool.name} is not for a token limited to {_limit(who)}",
                hint="it reaches beyond one project; use a token without that limit",
            )
        _check_named(who, given)
        for name in ("ids", "relate_to", "first", "without"):
            if listed := given.get(name):
                self._check_ids(who, caller, listed if isinstance(listed, list) else str(listed).strip("[]").split(","))
        if who.project:
            given["project"] = who.project
        if who.namespace is not None:
            given["namespace"] = who.namespace
        return given

    def _check_key(self, who: Identity, key: str) -> None:
        from haversack.worklog.stash import clean

        if (who.id, clean(key)) not in self._keys:
            raise ExpiredKey(f"no key {clean(key)[:40]!r} was given to this token", hint="make the call again")

    def _check_ids(self, who: Identity, caller: Caller, values: Sequence[object]) -> None:
        """Refuse observations outside the limit, and those whose relations would show what is outside."""
        ids = [int(text) for value in values if (text := str(value).strip().removeprefix("#")).isdigit()]
        held = _by_id(caller, ids)
        linked = {other for each in held for link in relations_of(caller.memory, each)
                  for other in (link.from_id, link.to_id)}  # fmt: skip
        for identifier in ids:
            if identifier not in held or not _is_inside(who, held[identifier]):
                raise NotFound(f"no observation #{identifier}", hint="mem_search finds ids by content")
        if any(not _is_inside(who, each) for each in _by_id(caller, list(linked)).values()):
            raise NotFound("it is related to what lies outside this token's limit")


def _by_id(caller: Caller, ids: Sequence[int]) -> Mapping[int, Observation]:
    inside = [each for each in ids if 0 < each < 2**63]
    if not inside:
        return {}
    with caller.database.read() as tx:
        return observations.get_many(tx, inside)


def _check_named(who: Identity, given: Mapping[str, object]) -> None:
    """Refuse a project or namespace other than the caller's own."""
    project, namespace = given.get("project"), given.get("namespace")
    is_other_project = bool(who.project and project) and project_key(str(project)) != project_key(who.project)
    is_other_namespace = who.namespace is not None and namespace is not None and str(namespace) != who.namespace
    if is_other_project or is_other_namespace or (who.project and project == "" and "id" in given):
        named = project if is_other_project or project == "" else namespace
        raise NotFound(f"nothing called {str(named)[:80]!r}", hint=f"this token sees {_limit(who)}")


def _is_inside(who: Identity, observation: Observation) -> bool:
    if who.project and project_key(observation.project) != project_key(who.project):
        return False
    return who.namespace is None or observation.namespace == who.namespace


def _limit(who: Identity) -> str:
    parts = [f"project {who.project}"] if who.project else []
    if who.namespace is not None:
        parts.append(f"namespace {who.namespace or '(none)'}")
    return " and ".join(parts)
