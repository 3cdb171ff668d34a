"""One progress document per project: JSON, stored whole, with every earlier text kept."""

from haversack.errors import InvalidArgument
from haversack.memory.projects.identity import project_key
from haversack.memory.room import Memory
from haversack.memory.save.pipeline import Draft, Saved, save
from haversack.store import observations
from haversack.text.redaction import redact_json
from haversack.values import record

TOPIC = "progress/current"


@record
class Progress:
    """A project's progress document and when it was written."""

    id: int
    content: str
    updated_at: int


def read(memory: Memory, project: str, *, namespace: str = "") -> Progress | None:
    """The progress document of a project, if it has one."""
    with memory.database.read() as tx:
        found = observations.live_topic(tx, TOPIC, project_key(project), "project", namespace)
    return Progress(found.id, found.content, found.updated_at) if found else None


def write(
    memory: Memory, project: str, content: str, *, namespace: str = "", session_id: str = ""
) -> tuple[Saved, tuple[str, ...]]:
    """Store a progress document; text that is not JSON is refused. Also says what was redacted."""
    import json

    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"content is not JSON that can be read: {error}", hint="send one JSON document") from None
    redactions: tuple[str, ...] = ()
    if memory.settings.redact:
        cleaned, redactions = redact_json(document)
        # Only a document with a secret in it is written anew; any other keeps its own bytes.
        content = json.dumps(cleaned, ensure_ascii=False, indent=1) if redactions else content
    draft = Draft(
        title=f"Progress: {project}",
        content=content,
        kind="progress",
        project=project,
        topic_key=TOPIC,
        namespace=namespace,
        session_id=session_id,
    )
    return save(memory, draft), redactions
