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
