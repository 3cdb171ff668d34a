"""One observation by its id, or an error that says whether it was deleted or never existed."""

from haversack.errors import NotFound
from haversack.store import observations
from haversack.store.engine import Reader
from haversack.store.records import Observation


def get(tx: Reader, identifier: int) -> Observation:
    """An observation that is not deleted, or an error that says which it is."""
    found = observations.get(tx, identifier)
    if found is None:
        raise NotFound(f"no observation #{identifier}", hint="mem_search finds ids by content")
    if found.deleted_at is not None:
        raise NotFound(
            f"observation #{identifier} is deleted", hint=f"mem_update(id={identifier}, restore=true) brings it back"
        )
    return found
