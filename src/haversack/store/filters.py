"""Filters as SQL: the conditions that queries and their counts share."""

from haversack.store.engine import Value
from haversack.store.records import Filters


def where(filters: Filters, alias: str = "o") -> tuple[str, list[Value]]:
    """A condition on the observations table and its values."""
    clauses = [f"{alias}.deleted_at IS {'NOT ' if filters.deleted else ''}NULL"]
    values: list[Value] = []

    def add(clause: str, *found: Value) -> None:
        clauses.append(clause)
        values.extend(found)

    if filters.kind:
        add(f"{alias}.kind = ?", filters.kind)
    if filters.project_key:
        add(f"{alias}.project_key = ?", filters.project_key)
    if filters.scope:
        add(f"{alias}.scope = ?", filters.scope)
    if filters.namespace is not None:
        add(f"{alias}.namespace = ?", filters.namespace)
    if filters.session_id:
        add(f"{alias}.session_id = ?", filters.session_id)
    if filters.statuses:
        add(f"{alias}.status IN ({','.join('?' * len(filters.statuses))})", *filters.statuses)
    if filters.verification:
        add(f"{alias}.verification = ?", filters.verification)
    if filters.since is not None:
        add(f"{alias}.updated_at >= ?", filters.since)
    if filters.until is not None:
        add(f"{alias}.updated_at <= ?", filters.until)
    for tag in filters.tags:
        add(f"EXISTS (SELECT 1 FROM tags t WHERE t.tag = ? AND t.observation_id = {alias}.id)", tag.casefold())
    return " AND ".join(clauses), values
