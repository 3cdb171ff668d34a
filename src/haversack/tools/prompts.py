"""Prompts that a person picks by name in a client, each declared as one annotated function, like tools."""

from collections.abc import Callable, Mapping
from importlib import import_module

from haversack.app import Caller
from haversack.errors import InvalidArgument
from haversack.tools.registry import modules_with
from haversack.values import record


@record
class PromptArgument:
    """One argument of a prompt; clients always send text."""

    name: str
    about: str
    required: bool


@record
class Prompt:
    """A declared prompt: `write` gives the message that is put before the model.

    `group` is the set of tools the message speaks of, after the folder the prompt is declared in.
    """

    name: str
    group: str
    title: str
    about: str
    arguments: tuple[PromptArgument, ...]
    write: Callable[..., str]


_PROMPTS: dict[str, Prompt] = {}
_loaded: list[str] = []


def prompt(name: str, *, title: str) -> Callable[[Callable[..., str]], Callable[..., str]]:
    """Declare a function `(caller, *, argument: Annotated[str, "what it is"] = "") -> str` as a prompt."""

    def declare(function: Callable[..., str]) -> Callable[..., str]:
        defaults = function.__kwdefaults__ or {}
        arguments = tuple(
            PromptArgument(each, annotation.__metadata__[0], each not in defaults)
            for each, annotation in function.__annotations__.items()
            if hasattr(annotation, "__metadata__")
        )
        about = " ".join((function.__doc__ or "").split())
        group = function.__module__.split(".")[2]
        _PROMPTS[name] = Prompt(name, group, title, about, arguments, function)
        return function

    return declare


def prompts() -> Mapping[str, Prompt]:
    """Every prompt, by name, in the order they are declared."""
    if not _loaded:
        for module in modules_with("@prompt("):
            import_module(module)
            _loaded.append(module)
    return _PROMPTS


def written(caller: Caller, name: str, arguments: Mapping[str, object]) -> str:
    """The message of a prompt; wrong arguments are an error that lists the right ones."""
    declared = prompts().get(name)
    if declared is None:
        raise InvalidArgument(f"no prompt called {name[:80]!r}", hint=f"prompts: {', '.join(prompts())}")
    known = {argument.name: argument for argument in declared.arguments}
    for given, value in arguments.items():
        if given not in known or not isinstance(value, str):
            raise InvalidArgument(
                f"prompt {name} has no text argument {given[:80]!r}", hint=f"arguments: {', '.join(known) or 'none'}"
            )
    for argument in declared.arguments:
        if argument.required and not arguments.get(argument.name):
            raise InvalidArgument(f"prompt {name} needs {argument.name}", hint=argument.about)
    return declared.write(caller, **arguments)
