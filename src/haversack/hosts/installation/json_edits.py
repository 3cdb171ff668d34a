"""Changing one value of a JSON file with comments and leaving every other byte as it is."""

import json
from typing import Any

from haversack.patterns import pattern
from haversack.values import record

_SPACE = pattern(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", 16)  # 16: the dot matches line ends
_STRING = pattern(r'"(?:[^"\\]|\\.)*"')
_PLAIN = pattern(r"[^\s,\]\}/]+")
_LAST_LINE = pattern(r"\r?\n[ \t]*\Z")
_MOST_DEPTH = 200


class BrokenJson(ValueError):
    """The text is not JSON, not even with comments and trailing commas."""


@record
class Node:
    """A value in a text: where it stands, and for containers what they hold.

    `members` are `(key, key's start, node)` of an object, with an empty key for the items of a list.
    """

    start: int
    end: int
    kind: str
    members: "tuple[tuple[str, int, Node], ...]" = ()
    value: Any = None

    def child(self, key: str) -> "Node | None":
        """The value of a key of an object."""
        return next((node for name, _, node in self.members if name == key), None) if self.kind == "object" else None


def parsed(text: str) -> Node:
    """The whole text as a node."""
    start = _skip(text, 1 if text.startswith("\ufeff") else 0)
    node = _value(text, start, 0)
    if _skip(text, node.end) != len(text):
        raise BrokenJson(f"something follows the value at position {node.end}")
    return node


def loaded(node: Node) -> Any:
    """The value of a node, as `json.loads` gives it."""
    if node.kind == "object":
        return {name: loaded(child) for name, _, child in node.members}
    if node.kind == "list":
        return [loaded(child) for _, _, child in node.members]
    return node.value


def with_value(text: str, keys: tuple[str, ...], value: object) -> tuple[str, tuple[str, ...]]:
    """The text with a value put at a path of keys, and the path of the outermost container this had to make.

    An empty text becomes a new object. What is at the path already is replaced.
    """
    if not text.strip():
        nested: object = value
        for key in reversed(keys):
            nested = {key: nested}
        return json.dumps(nested, indent=2, ensure_ascii=False) + "\n", keys[:1]
    node = parsed(text)
    for depth, key in enumerate(keys):
        if node.kind != "object":
            raise BrokenJson(f"{'.'.join(keys[:depth]) or 'the file'} is not an object")
        child = node.child(key)
        if child is None:
            for inner in reversed(keys[depth + 1 :]):
                value = {inner: value}
            return _with_member(text, node, key, value), keys[: depth + 1]
        node = child
    written = _written(value, _indent_at(text, node.start), _unit(text))
    return text[: node.start] + written + text[node.end :], keys


def with_item(text: str, keys: tuple[str, ...], item: object) -> tuple[str, tuple[str, ...]]:
    """The text with an item at the end of the list at a path, which is made if it is missing."""
    node: Node | None = parsed(text) if text.strip() else None
    for key in keys:
        node = node.child(key) if node is not None else None
    if node is None:
        return with_value(text, keys, [item])
    if node.kind != "list":
        raise BrokenJson(f"{'.'.join(keys)} is not a list")
    indent = _indent_at(text, node.start)
    unit = _unit(text)
    written = _written(item, indent + unit, unit)
    return _inserted(text, node, written, indent, unit), ()


def without(text: str, keys: tuple[str, ...]) -> str:
    """The text without the member at a path; unchanged when there is none."""
    node: Node | None = parsed(text) if text.strip() else None
    parent = None
    for key in keys:
        parent, node = node, node.child(key) if node is not None else None
    if node is None or parent is None:
        return text
    place = next(number for number, (name, _, _) in enumerate(parent.members) if name == keys[-1])
    return _cut_member(text, parent, place)


def without_item(text: str, keys: tuple[str, ...], number: int) -> str:
    """The text without one item of the list at a path."""
    node = parsed(text)
    for key in keys:
        found = node.child(key)
        assert found is not None
        node = found
    return _cut_member(text, node, number)


def _cut_member(text: str, parent: Node, place: int) -> str:
    start, end = parent.members[place][1], parent.members[place][2].end
    if place + 1 < len(parent.members):
        return text[:start] + text[parent.members[place + 1][1] :]
    tail = _skip(text, end)
    if place:
        before = parent.members[place - 1][2].end
        comma = text.index(",", before)
        # The comma after the item is removed, else the one before it; comments stay with the other items.
        kept, trailing = (comma + 1, tail + 1) if text[tail] == "," else (comma, end)
        return text[:kept] + text[comma + 1 : start].rstrip() + text[trailing:]
    trailing = tail + 1 if text[tail] == "," else end
    rest = text[trailing : parent.end - 1]
    comment = _LAST_LINE.sub("", text[parent.start + 1 : start])
    if not comment.strip():
        comment, rest = "", rest if rest.strip() else ""
    elif "\n" not in comment and "//" not in comment:
        rest = ""
    return text[: parent.start + 1] + comment + rest + text[parent.end - 1 :]


def _with_member(text: str, parent: Node, key: str, value: object) -> str:
    indent = _indent_at(text, parent.start)
    unit = _unit(text)
    written = f"{json.dumps(key, ensure_ascii=False)}: {_written(value, indent + unit, unit)}"
    return _inserted(text, parent, written, indent, unit)


def _inserted(text: str, parent: Node, written: str, indent: str, unit: str) -> str:
    line_end = "\r\n" if "\r\n" in text else "\n"
    written = written.replace("\n", line_end)
    if not parent.members:
        inside = text[parent.start + 1 : parent.end - 1]
        kept = inside if "\n" not in inside and "//" not in inside else inside.rstrip()
        kept = kept if inside.strip() else ""
        opening, closing = text[: parent.start + 1], text[parent.end - 1 :]
        return f"{opening}{kept}{line_end}{indent}{unit}{written}{line_end}{indent}{closing}"
    last = parent.members[-1][2].end
    after = _skip(text, last)
    if text[after] == ",":  # a trailing comma stays the last thing
        return f"{text[: after + 1]}{line_end}{indent}{unit}{written},{text[after + 1 :]}"
    return f"{text[:last]},{line_end}{indent}{unit}{written}{text[last:]}"


def _written(value: object, indent: str, unit: str) -> str:
    lines = json.dumps(value, indent=unit or None, ensure_ascii=False).split("\n")
    return ("\n" + indent).join(lines)


def _indent_at(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip())]


def _unit(text: str) -> str:
    """The indentation unit of the file."""
    for line in text.split("\n"):
        if line[:1] in " \t" and line.strip():
            return line[: len(line) - len(line.lstrip())]
    return "  "


def _skip(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    assert found is not None
    return found.end()


def _value(text: str, start: int, depth: int) -> Node:
    if depth > _MOST_DEPTH:
        raise BrokenJson("it is nested too deeply")
    sign = text[start : start + 1]
    if sign == "{":
        return _container(text, start, depth, "object", "}")
    if sign == "[":
        return _container(text, start, depth, "list", "]")
    found = _STRING.match(text, start) or _PLAIN.match(text, start)
    if found is None:
        raise BrokenJson(f"a value is missing at position {start}")
    try:
        return Node(start, found.end(), "plain", (), json.loads(found.group(), strict=False))
    except ValueError:
        raise BrokenJson(f"{found.group()[:40]!r} at position {start} is no value") from None


def _container(text: str, start: int, depth: int, kind: str, closing: str) -> Node:
    members: list[tuple[str, int, Node]] = []
    position = _skip(text, start + 1)
    while True:
        if text[position : position + 1] == closing:
            return Node(start, position + 1, kind, tuple(members))
        first, name = position, ""
        if kind == "object":
            found = _STRING.match(text, position)
            if found is None:
                raise BrokenJson(f"a name is missing at position {position}")
            name = json.loads(found.group(), strict=False)
            position = _skip(text, found.end())
            if text[position : position + 1] != ":":
                raise BrokenJson(f"a colon is missing at position {position}")
            position = _skip(text, position + 1)
        child = _value(text, position, depth + 1)
        members.append((name, first, child))
        position = _skip(text, child.end)
        if text[position : position + 1] == ",":
            position = _skip(text, position + 1)
        elif text[position : position + 1] != closing:
            raise BrokenJson(f"a comma or {closing} is missing at position {position}")
