"""Basic Memory: Markdown files with front matter, in folders."""

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

from haversack.memory.importers.values import kind, text, time, titled, words

PLACES = ("~/basic-memory",)


def records(path: str, left: Counter[str]) -> Iterator[dict[str, Any]]:
    """An observation for each note; its permalink is the topic."""
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        for name in sorted(files):
            if not name.endswith(".md"):
                left["files that are not Markdown"] += 1
                continue
            whole = os.path.join(folder, name)
            try:
                with open(whole, encoding="utf-8") as file:
                    front, content = _parts(file.read())
            except UnicodeDecodeError:
                left["files that are not UTF-8"] += 1
                continue
            yield _note(os.path.relpath(whole, path).replace(os.sep, "/"), front, content, os.path.getmtime(whole))


def _note(place: str, front: dict[str, Any], content: str, changed: float) -> dict[str, Any]:
    permalink = text(front.get("permalink")) or place.removesuffix(".md")
    modified = int(changed * 1_000_000)
    return {
        "uid": f"basic-memory:{permalink}",
        **titled(text(front.get("title")) or os.path.basename(place).removesuffix(".md"), content.strip()),
        "kind": kind(front.get("type") or "note"), "tags": words(front.get("tags") or []), "topic_key": permalink,
        "created_at": time(front.get("created") or front.get("date")) or modified,
        "updated_at": time(front.get("modified") or front.get("updated")) or modified,
    }  # fmt: skip


def _parts(whole: str) -> tuple[dict[str, Any], str]:
    """The front matter's plain values and lists, and the text under it."""
    lines = whole.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].strip() != "---" or "---" not in (each.strip() for each in lines[1:]):
        return {}, whole
    end = next(at for at, each in enumerate(lines[1:], 1) if each.strip() == "---")
    front: dict[str, Any] = {}
    name = ""
    for line in lines[1:end]:
        if line.lstrip().startswith("- ") and isinstance(front.get(name), list):
            front[name].append(_unquoted(line.lstrip()[2:]))
        elif ":" in line and not line[:1].isspace():
            name, _, value = line.partition(":")
            name, value = name.strip(), value.strip()
            is_list = not value or (value.startswith("[") and value.endswith("]"))
            front[name] = [_unquoted(each) for each in value[1:-1].split(",")] if is_list else _unquoted(value)
            front[name] = [each for each in front[name] if each] if is_list else front[name]
    return front, "\n".join(lines[end + 1 :])


def _unquoted(value: str) -> str:
    return value.strip().strip("\"'")
