"""Random arguments for every tool, made from what it declares; for some tools refined to what finds something."""

from collections.abc import Callable
from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from haversack.sdd.flows.clarity import NAMES
from haversack.sdd.flows.pipeline import STAGES
from haversack.tools.declaration import Parameter, Tool
from haversack.tools.registry import tools
from haversack.tools.road.call import call
from tests.contract.worlds import KINDS, NAMESPACES, PROJECTS, SENTENCES, TAGS, WORDS, World, world

Arguments = dict[str, object]
Maker = Callable[[World], SearchStrategy[Arguments]]

QUERIES = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join),
    st.sampled_from(SENTENCES),
    st.sampled_from(
        ["how did we do the token rotation?", '"token rotation"', "tok*", "AND (", "zebra quince", "𝒯oken \u200d"]
    ),
)
PLACES: dict[str, SearchStrategy[object]] = {
    "project": st.sampled_from(["all", "", *PROJECTS, "nobody's project " * 12]),
    "scope": st.sampled_from(["", "project", "personal"]),
    "namespace": st.sampled_from([None, *NAMESPACES]),
}
FILTERS = PLACES | {
    "kind": st.sampled_from(["", *KINDS]),
    "tags": st.lists(st.sampled_from(TAGS), max_size=2),
    "status": st.sampled_from(["", "all", "active", "superseded"]),
    "since": st.sampled_from(["", "2w", "2026-01-01"]),
    "until": st.sampled_from(["", "today"]),
}
LIMITS = st.sampled_from([1, 2, 10, 50, 200])


def some(
    required: dict[str, SearchStrategy[object]], optional: dict[str, SearchStrategy[object]]
) -> SearchStrategy[Arguments]:
    return st.fixed_dictionaries(required, optional=optional).map(dict)


def one_of_its_ids(held: World) -> SearchStrategy[object]:
    # A call about something needs something: the empty store answers with an error instead.
    return st.sampled_from(held.ids or (1,))


@cache
def keys(name: str) -> tuple[str, ...]:
    """Keys of replies that were cut, of blocks and of documents."""
    held = world(name)
    origins: list[tuple[str, Arguments]] = [
        ("mem_search", {"query": "token 数据库 кэш", "limit": 5}),
        ("mem_search", {"query": "token 数据库 кэш", "limit": 5, "detail_level": "full"}),
        ("mem_context", {"detail_level": "auto"}),
        ("mem_context", {"limit": 2}),
        ("list_observations", {"limit": 3}),
        ("list_sessions", {"limit": 2}),
        ("context_pack", {}),
        ("mem_timeline", {"observation_id": held.ids[0] if held.ids else 1}),
        ("mem_get_observation", {"id": held.ids[-1] if held.ids else 1}),
    ]
    found = []
    for name, arguments in origins if held.ids else []:
        for budget in (64, 300):
            left = call(held.caller, name, arguments | {"max_tokens": budget}).left
            found += [left.key] if left else []
    return tuple(sorted(set(found))) or ("none",)


ARGUMENTS: dict[str, Maker] = {
    "mem_search": lambda held: some(
        {"query": QUERIES},
        FILTERS | {"limit": LIMITS, "match": st.sampled_from(["any", "all"]), "explain": st.booleans()},
    ),
    "mem_context": lambda held: some({}, PLACES | {"limit": LIMITS}),
    "mem_timeline": lambda held: some(
        {"observation_id": one_of_its_ids(held)}, {"before": st.integers(0, 100), "after": st.integers(0, 100)}
    ),
    "mem_get_observation": lambda held: some({"id": one_of_its_ids(held)}, {}),
    "mem_build_context": lambda held: some({"observation_id": one_of_its_ids(held)}, {"depth": st.integers(1, 5)}),
    "mem_progress": lambda held: some({"project": PLACES["project"].filter(bool)}, {}),
    "mem_stats": lambda held: some({}, {"project": PLACES["project"]}),
    "mem_suggest_topic_key": lambda held: some(
        {"title": st.sampled_from(SENTENCES)}, {"content": st.sampled_from(SENTENCES), "kind": st.sampled_from(KINDS)}
    ),
    "mem_compact": lambda held: some({"older_than_days": st.sampled_from([0, 1, 39, 1000])}, PLACES),
    "list_observations": lambda held: some({}, FILTERS | {"limit": LIMITS}),
    "observation_history": lambda held: some({"id": one_of_its_ids(held)}, {}),
    "list_sessions": lambda held: some({}, {"project": PLACES["project"], "limit": LIMITS}),
    "context_pack": lambda held: some(
        {},
        {name: FILTERS[name] for name in ("project", "scope", "namespace", "kind", "tags")}
        | {
            "query": QUERIES,
            "candidates": st.sampled_from([1, 50, 200]),
            "scrub": st.booleans(),
            "since": st.sampled_from(["", *held.pack_ids]),
        },
    ),
    "budget_status": lambda held: some({}, {"account": st.sampled_from(["", *held.accounts])}),
    "work_log": lambda held: some(
        {"account": st.sampled_from(held.accounts or ("none",))}, {"limit": LIMITS, "evicted": st.booleans()}
    ),
    "sdd_get_context": lambda held: some({}, {"stage": st.sampled_from(["", *STAGES])}),
    "sdd_context_check": lambda held: some(
        {"change_description": st.one_of(QUERIES, st.just("Rotate tokens (FR-002, FR-999), see TASK-003"))},
        {"project_name": PLACES["project"]},
    ),
    "sdd_change_status": lambda held: some({}, {"slug": st.sampled_from(["", "token-7", "none such"])}),
    "project_files": lambda held: some(
        {}, {"pattern": st.sampled_from(["", "**/*.py", "*.md"]), "sort": st.sampled_from(["path", "size", "mtime"])}
    ),
    "search_content": lambda held: some(
        {"pattern": st.sampled_from(["token", "changed", "zebra quince", "汉"])}, {"context_lines": st.integers(0, 4)}
    ),
    "read_file": lambda held: some(
        {"path": st.sampled_from(["history.md", "long.txt", "src/部2/file 9.py"] if held.ids else ["none"])},
        {"start_line": st.just(1)},
    ),
    "file_info": lambda held: some(
        {
            "paths": st.lists(
                st.sampled_from(["history.md", "long.txt", "src", "none such", ".env"]), min_size=1, unique=True
            )
        },
        {},
    ),
    "vcs_status": lambda held: some({}, {}),
    "vcs_diff": lambda held: some({}, {"staged": st.booleans(), "stat_only": st.booleans()}),
    "vcs_log": lambda held: some({}, {"count": st.sampled_from([1, 10, 500])}),
    "vcs_blame": lambda held: some({"path": st.just("history.md")}, {"start_line": st.integers(1, 20)}),
    "count_file_tokens": lambda held: some(
        {"files": st.lists(st.sampled_from(["history.md", "long.txt"] if held.ids else ["none"]), min_size=1)},
        {"profiles": st.lists(st.sampled_from(["o200k", "bytes4"]), max_size=2)},
    ),
    "compare_packs": lambda held: some(
        {name: st.sampled_from(held.pack_ids or ("none",)) for name in ("before", "after")}, {}
    ),
    "more": lambda held: some({"key": st.sampled_from(keys(held.name))}, {}),
}


def arguments_for(tool: Tool, held: World) -> SearchStrategy[Arguments]:
    """Arguments with which a tool finds something, where a strategy for that is written; else what it declares."""
    return ARGUMENTS[tool.name](held) if tool.name in ARGUMENTS else declared_arguments(tool, held)


TEXTS = st.one_of(
    st.sampled_from(
        [*SENTENCES, *WORDS, "", " ", "x" * 5_000, "\n\n", "(", "[" * 300, "\u2028# heading", "-", "../.."]
    ),
    st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=40).map("\n- ".join),
    st.text(max_size=80),
)


def declared_arguments(tool: Tool, held: World) -> SearchStrategy[Arguments]:
    """Arguments of the kinds a tool declares: enough to try the contract on a tool nobody wrote a strategy for."""
    own = [each for each in tool.parameters if each.name not in ("max_tokens", "format", "detail_level")]
    required = {each.name: _values(each, held) for each in own if each.required}
    return some(required, {each.name: _values(each, held) for each in own if not each.required})


def _values(parameter: Parameter, held: World) -> SearchStrategy[object]:
    known = FILTERS | {"query": QUERIES, "limit": LIMITS}
    if parameter.name in known:
        return known[parameter.name]
    if parameter.choices:
        return st.sampled_from(parameter.choices)
    ids = st.sampled_from((*held.ids[:40], 10**6))
    numbers = st.integers(0, 200)
    if parameter.range:
        numbers = st.integers(int(parameter.range.least), int(min(parameter.range.most, 10_000)))
    kinds: dict[str, SearchStrategy[object]] = {
        "string": st.sampled_from(held.session_ids or ("s",)) if "session" in parameter.name else TEXTS,
        "integer": ids if parameter.name.removesuffix("_id") in ("id", "observation", "from", "to") else numbers,
        "number": st.floats(0, 1) if parameter.range else st.floats(0, 100),
        "boolean": st.booleans(),
        "strings": st.lists(TEXTS, max_size=8),
        "integers": st.lists(ids, max_size=60),
        "object": st.dictionaries(st.sampled_from([*NAMES, "nonsense"]), st.floats(0, 100), max_size=8),
    }
    return kinds[parameter.kind]


def every_tool() -> list[Tool]:
    """Every tool of the program; those other tests declare are not the program's."""
    return [each for each in tools().values() if each.function.__module__.startswith("haversack.")]


def reading_tools() -> list[Tool]:
    """The tools that can be asked twice, so that two replies can be compared."""
    return [each for each in every_tool() if each.name in ARGUMENTS or not each.writes]
