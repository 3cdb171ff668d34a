"""Resources: replies of reading tools under an address, for clients that attach things by address."""

from collections.abc import Mapping

from haversack.app import Caller
from haversack.errors import NotFound
from haversack.tools.road.call import call
from haversack.tools.road.fit import Reply
from haversack.values import record

SCHEME = "haversack://"


@record
class Resource:
    """A tool's reply under an address; a part in braces, as in `observation/{id}`, is that argument of the tool."""

    path: str
    tool: str
    name: str
    about: str
    scheme: str = SCHEME

    @property
    def address(self) -> str:
        return self.scheme + self.path

    @property
    def variable(self) -> str:
        """The argument the address leaves open, or nothing."""
        return self.path.partition("{")[2].rstrip("}")


_RESOURCES: list[Resource] = [
    Resource("context", "mem_context", "context", "Pinned rules, recent sessions, prompts and memories"),
    Resource("stats", "mem_stats", "stats", "Counts, tokens stored, projects, size on disk"),
    Resource("context/{project}", "mem_context", "context of a project", "The same for one project"),
    Resource("observation/{id}", "mem_get_observation", "observation", "One memory in full, by its id"),
    Resource("search/{query}", "mem_search", "search", "The best memories for words or a question"),
    Resource("more/{key}", "more", "rest of a reply", "What a reply left out, by its key"),
    Resource("project/status", "sdd_get_context", "status of the plan", "Each stage and what is next", scheme="sdd://"),
]


def resources() -> list[Resource]:
    """Every resource, those with an open address among them."""
    return _RESOURCES


def read(caller: Caller, address: str) -> Reply:
    """The reply an address stands for; what follows a `?` are further arguments, as in `?max_tokens=500`."""
    from urllib.parse import parse_qsl, unquote

    place, _, query = address.partition("?")
    resource, arguments = _matching(place.rstrip("/"))
    given: dict[str, object] = {name: unquote(value) for name, value in arguments.items()}
    return call(caller, resource.tool, given | dict(parse_qsl(query, keep_blank_values=True)))


def _matching(place: str) -> tuple[Resource, Mapping[str, str]]:
    for resource in resources():
        if resource.address == place:
            return resource, {}
        stem = resource.address.partition("{")[0]
        if resource.variable and place.startswith(stem) and len(place) > len(stem):
            return resource, {resource.variable: place[len(stem) :]}
    known = ", ".join(each.address for each in resources())
    raise NotFound(f"no resource {place[:200]!r}", hint=f"resources: {known}")
