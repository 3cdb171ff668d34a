"""The reference of every tool, prompt and resource, written from the declarations."""

from haversack.tools.declaration import ALIASES, Parameter, Tool
from haversack.tools.prompts import prompts
from haversack.tools.registry import tools
from haversack.tools.resources import resources

GROUPS = {
    "memory": "Memory",
    "core": "For every tool set",
    "budget": "Budget and work log",
    "workspace": "Workspace",
    "sdd": "Plans",
    "terminal": "Command line (a server offers these when they are named)",
    "upkeep": "Upkeep (command line; a server offers what is safe when it is named)",
}
_KINDS = {"strings": "list of texts", "integers": "list of whole numbers", "object": "object of numbers"}
_KINDS |= {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}

_OPENING = """\
# Tool reference

Written from the declarations by `make docs`; change those, not this file.

Every tool is called in the same way from a client, from Python (`haversack.tools.road.call.call`) and, under a shorter
name, from the command line. Numbers sent as text are accepted; an unknown parameter or value is an error that lists
what is allowed. Three parameters mean the same everywhere:

- `max_tokens`: the ceiling of the whole reply, at least 64. Without it a call gets the usual allocation (8,000 tokens,
  less when the budget runs low) or the figure named with the tool. What does not fit is left out whole, counted and
  priced, and `more` gives it.
- `detail_level`: `summary` (id, kind, title), `standard` (a snippet), `full` (everything) or `auto` (the best mixture
  that fits). The level a tool begins with is named with it.
- `format`: `text` or `json`, within the same budget. Clients are not told of it, since only programs want it.
"""
_SHARED = {"max_tokens", "detail_level", "format"}


def reference() -> str:
    """The whole reference as Markdown."""
    grouped: dict[str, list[Tool]] = {group: [] for group in GROUPS}
    for tool in tools().values():
        grouped.setdefault(tool.group, []).append(tool)
    parts = [_OPENING, _other_names()]
    for group, members in grouped.items():
        if members:
            parts += [f"## {GROUPS.get(group, group)}\n", *(_tool(each) for each in members)]
    return "\n".join([*parts, _prompts(), _resources()])


def _other_names() -> str:
    listed = ", ".join(f"`{other}` for `{name}`" for other, name in ALIASES.items())
    return f"Other names are taken where a tool has no parameter of that name: {listed}.\n"


def _tool(tool: Tool) -> str:
    own = [each for each in tool.parameters if each.name not in _SHARED]
    lines = [f"### `{tool.name}`\n", f"{tool.about}\n", f"{_marks(tool)}\n"]
    if own:
        lines += ["| parameter | kind | default | |", "|---|---|---|---|", *(_row(each) for each in own), ""]
    return "\n".join(lines)


def _marks(tool: Tool) -> str:
    marks = ["reads only" if not tool.writes else "destructive" if tool.destructive else "writes"]
    if tool.writes:
        marks.append("may be repeated" if tool.idempotent else "each call counts")
    if tool.level:
        marks.append(f"`detail_level` {tool.level}")
    marks.append(f"`max_tokens` {tool.default_tokens:,}" if tool.default_tokens else "`max_tokens`")
    sentence = "; ".join(marks)
    return f"*{sentence[0].upper()}{sentence[1:]}.*"


def _row(parameter: Parameter) -> str:
    kind = _KINDS[parameter.kind]
    if parameter.choices:
        kind = ", ".join(f"`{choice}`" for choice in parameter.choices)
    if parameter.range and parameter.range.most < 10**9:
        kind += f", {parameter.range.least:,} to {parameter.range.most:,}"
    default = "required" if parameter.required else _shown(parameter.default)
    return f"| `{parameter.name}` | {kind} | {default} | {parameter.about.replace('|', chr(92) + '|')} |"


def _shown(default: object) -> str:
    if default in ("", None, [], ()):
        return ""
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def _prompts() -> str:
    lines = ["## Prompts\n"]
    for each in prompts().values():
        arguments = ", ".join(
            f"`{one.name}`{'' if one.required else ' (optional)'}: {one.about}" for one in each.arguments
        )
        lines.append(f"- **{each.name}**: {each.about} {arguments}".rstrip())
    return "\n".join([*lines, ""])


def _resources() -> str:
    lines = ["## Resources\n", "What follows a `?` are further arguments, as in `?max_tokens=500`.\n"]
    lines += [f"- `{each.address}`: {each.about} (`{each.tool}`)" for each in resources()]
    return "\n".join([*lines, ""])
