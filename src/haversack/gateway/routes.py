"""Which of several servers a request is for."""

from collections.abc import Iterable, Mapping
from typing import Any

from haversack.errors import HaversackError
from haversack.gateway.messages import Json, Pending
from haversack.gateway.upstream.lane import Lane
from haversack.patterns import pattern
from haversack.protocol.spans import Span, members
from haversack.values import replace

_HOLE = pattern(r"\{[^}]*\}")


class Routes:
    """Finds servers by the names of prompts, the addresses of resources and the ids of tasks."""

    def __init__(self, lanes: Mapping[str, Lane]) -> None:
        self._lanes = lanes
        self._addresses: dict[str, Lane] = {}
        self._templates: list[tuple[str, Lane]] = []
        self.tasks: dict[str, Pending] = {}

    def of(self, method: str, params: Json) -> tuple[Lane, Json] | None:
        """The server a request is for, and the parameters as that server knows them; None where nobody is asked."""
        if method.startswith("tasks/"):
            return self._prefixed(params, "taskId")
        if method == "prompts/get":
            return self._prefixed(params, "name")
        if method.startswith("resources/"):
            lane = self._by_address(str(params.get("uri", "")))
            return (lane, params) if lane else None
        if method == "completion/complete":
            return self._completion(params)
        return None

    def task(self, method: str, params: Json, asked: Pending) -> Pending | None:
        """A question for the result of a task, as the call that began it; None for any other."""
        began = self.tasks.get(str(params.get("taskId"))) if method in ("tasks/result", "tasks/get") else None
        return None if began is None else replace(began, identifier=asked.identifier, method=method)

    def _completion(self, params: Json) -> tuple[Lane, Json] | None:
        reference = params.get("ref")
        held: Json = reference if isinstance(reference, dict) else {}
        if held.get("type") == "ref/prompt":
            found = self._prefixed(held, "name")
            return (found[0], {**params, "ref": found[1]}) if found else None
        lane = self._by_address(str(held.get("uri", "")))
        return (lane, params) if lane else None

    def _prefixed(self, params: Json, member: str) -> tuple[Lane, Json] | None:
        """The server whose name stands before a name, and the parameters without it."""
        name = str(params.get(member, ""))
        for server, lane in self._lanes.items():
            if name.startswith(f"{server}_"):
                return lane, {**params, member: name[len(server) + 1 :]}
        return None

    def _by_address(self, address: str) -> Lane | None:
        if address not in self._addresses:
            self.resources()
        if address in self._addresses:
            return self._addresses[address]
        if not self._templates:
            self.templates()
        for template, lane in self._templates:
            if _matches(template, address):
                return lane
        with_resources = [lane for lane in self._lanes.values() if "resources" in lane.capabilities]
        return with_resources[0] if with_resources else None

    def resources(self) -> list[tuple[Lane, Json]]:
        """Every resource with its server."""
        found = self.gather("resources", "resources/list", "resources")
        # The first server that lists an address is the one that is asked for it.
        self._addresses = {str(each.get("uri")): lane for lane, each in reversed(found)}
        return found

    def templates(self) -> list[tuple[Lane, Json]]:
        """Every template of resources with its server."""
        found = self.gather("resources", "resources/templates/list", "resourceTemplates")
        self._templates = [(str(each.get("uriTemplate")), lane) for lane, each in found]
        return found

    def gather(self, capability: str, method: str, member: str) -> list[tuple[Lane, Json]]:
        """The items of one kind of list, of all servers that have it."""
        found: list[tuple[Lane, Json]] = []
        for lane in self._with(capability):
            try:
                found += [(lane, each) for each in lane.read_all(method, member)]
            except HaversackError:
                continue
        return found

    def _with(self, capability: str) -> Iterable[Lane]:
        for lane in self._lanes.values():
            lane.is_listed.wait(10)
            if capability in lane.capabilities:
                yield lane


def _matches(template: str, address: str) -> bool:
    import re

    parts: list[Any] = [re.escape(part) for part in _HOLE.split(template)]
    return re.fullmatch(".+?".join(parts), address) is not None


def task_span(text: str, result: Json) -> Span | None:
    """Where the id of a task stands in an answer that began one."""
    outer = members(text)["result"].value
    if isinstance(result.get("taskId"), str):
        return members(text, outer.start)["taskId"].value
    task = result.get("task")
    if isinstance(task, dict) and isinstance(task.get("taskId"), str):
        inner = members(text, outer.start)["task"].value
        return members(text, inner.start)["taskId"].value
    return None
