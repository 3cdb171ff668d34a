"""Passive capture: the learnings a text lists, each saved as an observation of its own."""

from haversack.memory.learnings import find_learnings, has_substance
from haversack.memory.room import Memory
from haversack.memory.save.checks import check_line, check_text
from haversack.memory.save.pipeline import Draft, Saved, save
from haversack.text.clipping import one_line
from haversack.values import record

TITLE_WIDTH = 80


@record
class Captured:
    """How many learnings a text held, those saved, and how many were known already or too short to keep."""

    found: int
    saved: tuple[Saved, ...]
    duplicates: int
    redactions: tuple[str, ...]
    too_short: int = 0


def capture(
    memory: Memory, content: str, *, project: str = "", session_id: str = "", source: str = "", namespace: str = ""
) -> Captured:
    """Save every learning a text lists that says enough, in one transaction."""
    check_text("content", content, memory.settings.max_content)
    source = check_line("source", source)
    found = find_learnings(content)
    learnings = [each for each in found if has_substance(each)]
    with memory.database.write():
        results = [
            save(
                memory,
                Draft(
                    title=one_line(learning, TITLE_WIDTH),
                    content=learning,
                    kind="passive",
                    project=project,
                    session_id=session_id,
                    namespace=namespace,
                    tool_name=source,
                ),
            )
            for learning in learnings
        ]
    new = tuple(result for result in results if result.outcome == "saved")
    redactions = tuple(name for result in results for name in result.redactions)
    return Captured(len(found), new, len(results) - len(new), redactions, len(found) - len(learnings))
