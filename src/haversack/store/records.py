"""One record class per table; times are microseconds since 1970, UTC."""

from haversack.values import record


@record
class Observation:
    """Something worth knowing next week; `uid` is the same in every store it is copied to."""

    id: int
    uid: str
    position: int
    session_id: str
    kind: str
    title: str
    content: str
    tags: tuple[str, ...]
    importance: float
    tool_name: str
    project: str
    scope: str
    topic_key: str
    namespace: str
    status: str
    verification: str
    pinned: bool
    content_hash: str
    bytes: int
    units: int
    revision_count: int
    duplicate_count: int
    access_count: int
    created_at: int
    updated_at: int
    last_seen_at: int
    last_accessed_at: int | None
    deleted_at: int | None


@record
class Revision:
    """An earlier text of an observation."""

    observation_id: int
    revision: int
    kind: str
    title: str
    content: str
    tags: tuple[str, ...]
    importance: float
    written_at: int
    replaced_at: int


@record
class Session:
    """A stretch of work that observations and prompts belong to."""

    id: str
    project: str
    namespace: str
    directory: str
    started_at: int
    ended_at: int | None
    summary: str


@record
class Prompt:
    """What a person typed."""

    id: int
    session_id: str
    project: str
    namespace: str
    content: str
    created_at: int


@record
class SessionEvent:
    """Something a host reported of a session: its kind (`file`, `command`, `injected`, ...) and a line of detail."""

    id: int
    session_id: str
    kind: str
    detail: str
    created_at: int


@record
class Project:
    """A project by its key; `short` is the last part of the key, `moved_to` the key it was renamed or merged into."""

    key: str
    name: str
    short: str
    moved_to: str = ""


@record
class ProjectChange:
    """A change of a whole project, with what is needed to take it back as JSON."""

    id: int
    action: str
    project: str
    target: str
    detail: str
    created_at: int
    undone_at: int | None = None


@record
class Relation:
    """A typed link from one observation to another."""

    id: int
    from_id: int
    to_id: int
    type: str
    note: str
    strength: float
    created_at: int


@record
class Filters:
    """Which observations a query is about; an empty field does not restrict."""

    kind: str = ""
    project_key: str = ""
    scope: str = ""
    namespace: str | None = None
    tags: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    session_id: str = ""
    since: int | None = None
    until: int | None = None
    deleted: bool = False
    verification: str = ""


@record
class Account:
    """A budget account: what it may use, tier by tier, and what is used.

    `server` is what the program measured of its own share of the system prompt, `system` what callers declared
    beside it. `leased` is held by open leases; `uses` is the use counter by which the work log finds its least recently
    used entry.
    """

    handle: str
    parent: str | None
    total: int
    system_limit: int
    history_limit: int
    tool_results_limit: int
    user_limit: int
    reserve: int
    warning: int
    critical: int
    server: int
    system: int
    history: int
    tool_results: int
    user: int
    leased: int
    entries: int
    evicted: int
    uses: int
    opened_at: int
    closed_at: int | None


@record
class Entry:
    """One call in the work log.

    `brief` says in a line what came back; `key` stands for the reply as it was sent, `rest` for what the reply
    left out. Tokens: `before` of the full result, `sent` of the reply, `after` of the brief, and what the entry's
    whole line costs the history. `used` is the account's use counter at its last use, `evicted` the counter when it
    left the history, or 0.
    """

    id: int
    account: str
    tool: str
    arguments: str
    brief: str
    key: str
    rest: str
    before: int
    sent: int
    after: int
    cost: int
    created_at: int
    used: int
    evicted: int
