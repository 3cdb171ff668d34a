"""Parameters that several tools share."""

from typing import Annotated

from haversack.memory.save.checks import SCOPES
from haversack.tools.declaration import Range, Unlisted

Scope = Annotated[str, SCOPES]
Project = Annotated[str, "Project; detected when omitted"]
ProjectFilter = Annotated[str, "This project when omitted; all for every one"]
Namespace = Annotated[str, "Isolates a sub-agent"]
NamespaceFilter = Annotated[str | None, "Only this namespace"]
Limit = Annotated[int, Range(1, 200)]
UnlistedScope = Annotated[str, SCOPES, Unlisted()]
UnlistedText = Annotated[str, Unlisted()]
UnlistedNumber = Annotated[int | None, Unlisted()]
