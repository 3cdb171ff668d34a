"""The migrations of a team's store, in the order in which an owner runs them."""

from haversack.store.postgres import (
    copy_tables,
    member_tables,
    memory_tables,
    project_tables,
    security,
    trail_tables,
    word_tables,
)

MIGRATIONS: tuple[str, ...] = (
    member_tables.NUMBERS
    + member_tables.PEOPLE
    + memory_tables.MEMORIES
    + memory_tables.WORDS
    + trail_tables.TRAIL
    + trail_tables.AUDIT
    + security.POLICIES
    + member_tables.ENTER,
    project_tables.PROJECTS + security.PROJECT_POLICIES,
    member_tables.SEALS + trail_tables.EXPORTS + project_tables.PROJECTS_MISSED,
    memory_tables.VECTOR_CHANGES + security.VECTOR_POLICIES,
    word_tables.WORD_NUMBERS + security.POST_POLICIES + copy_tables.COPIES,
)
"""`{schema}` stands for the schema's name where search_path does not say it; see `upgrade`."""

VERSION = len(MIGRATIONS)
