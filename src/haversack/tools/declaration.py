"""A tool is one annotated function: its signature and docstring are the only place it is described."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, get_args, get_origin

from haversack.app import Caller
from haversack.errors import InvalidArgument, UnknownTool
from haversack.tools.road.outcomes import Outcome
from haversack.values import record

Kind = Literal["string", "integer", "number", "boolean", "strings", "integers", "object"]

_KINDS: dict[object, Kind] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list[str]: "strings",
    list[int]: "integers",
    dict[str, float]: "object",
}


@record
class Range:
    """The least and the most a number may be."""

    least: float
    most: float


@record
class Unlisted:
    """Marks a parameter that callers of other memory programs send: it is accepted, but not listed."""


@record
class Parameter:
    """One parameter of a tool, as every door needs to know it."""

    name: str
    kind: Kind
    about: str
    required: bool
    default: Any
    choices: tuple[str, ...] = ()
    range: Range | None = None
    listed: bool = True


@record
class Command:
    """How a tool is typed on the command line: a name of one or two words, and what is typed without an option's name.

    `heading` is the group in the help (by the tool's group when empty), `aliases` are other names, `hidden` are
    parameters it does not take, `options` are parameters each followed by the options it is typed as, `optional` are
    required texts that may be left out when typed. A command with `fixed` arguments takes no others but its
    positionals. `paste` prints the reply without its footer lines, which go to standard error instead. On a terminal
    a list may be a `table` of the named facts, and a reply that may be asked for again and again has `--watch`. One
    that `draws` has a parameter `drawing`: drawn on a terminal or with `--draw`, into a picture with `--svg`.
    """

    name: str
    positionals: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    options: tuple[tuple[str, ...], ...] = ()
    heading: str = ""
    about: str = ""
    optional: tuple[str, ...] = ()
    fixed: Mapping[str, object] | None = None
    hidden: tuple[str, ...] = ()
    paste: bool = False
    table: tuple[str, ...] = ()
    watch: bool = False
    draws: bool = False

    def takes(self, parameter: Parameter) -> bool:
        """Whether the parameter can be typed with this command."""
        if parameter.name == "format" or parameter.name in self.hidden:
            return False
        return not self.fixed or parameter.name in (*self.positionals, "max_tokens", "detail_level")


MAX_TOKENS = Parameter("max_tokens", "integer", "Token budget", False, None, range=Range(64, 10**9))
FORMAT = Parameter("format", "string", "text or json", False, "text", choices=("text", "json"))
ALIASES = {
    "type": "kind",
    "token_budget": "max_tokens",
    "tokens": "max_tokens",
    "tag": "tags",
    "detail": "detail_level",
    "compact_ids": "ids",
    "hard_delete": "hard",
    "change_id": "slug",
}
"""Other names callers use for a parameter, taken where the tool has no parameter of that name."""


class Tool:
    """A declared tool: the function, and what its doors show of it."""

    def __init__(
        self,
        function: Callable[..., Outcome],
        *,
        group: str,
        writes: bool,
        destructive: bool,
        idempotent: bool,
        level: str,
        confirms: bool,
        default_tokens: int,
        title: str,
        commands: tuple[Command, ...] = (),
        terminal_only: bool = False,
        always_loaded: bool = False,
        atomic: bool = False,
    ) -> None:
        self.function = function
        self.name = function.__name__
        self.group = group
        self.writes = writes
        self.destructive = destructive
        self.idempotent = idempotent
        self.level = level
        self.confirms = confirms
        self.default_tokens = default_tokens
        self.title = title
        self._commands = commands
        self.terminal_only = terminal_only
        self.always_loaded = always_loaded
        self.atomic = atomic

    @property
    def about(self) -> str:
        """The first paragraph of the docstring, on one line."""
        return " ".join((self.function.__doc__ or "").strip().split("\n\n")[0].split())

    def run(self, caller: Caller, level: str, values: Mapping[str, Any]) -> Outcome:
        """The function's outcome; a second positional parameter gets the detail level."""
        if self.function.__code__.co_argcount > 1:
            return self.function(caller, level, **values)
        return self.function(caller, **values)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The function's keyword parameters, then those every tool has."""
        names = self.function.__code__.co_varnames
        first = self.function.__code__.co_argcount
        wanted = names[first : first + self.function.__code__.co_kwonlyargcount]
        declared = [self._parameter(name) for name in wanted]
        if self.level:
            about = "summary, standard, full, or auto: the best mixture that fits"
            levels = ("summary", "standard", "full", "auto")
            declared.append(Parameter("detail_level", "string", about, False, self.level, choices=levels))
        return (*declared, MAX_TOKENS, FORMAT)

    @property
    def commands(self) -> tuple[Command, ...]:
        """How the tool is typed: as declared, else by its own name with what it needs in order."""
        return self._commands or (self._derived_command(),)

    def _derived_command(self) -> Command:
        name, spoken = self.name, _SPOKEN_FIRST.get(self.group, "")
        for prefix in _UNSPOKEN:
            name = name.removeprefix(prefix)
        name = f"{spoken} {name}".strip().replace("_", "-")
        needed = [parameter for parameter in self.parameters if parameter.required]
        typed = [each.choices[0] if each.choices else _SAMPLES.get(each.kind, "words") for each in needed]
        example = " ".join(("haversack", name, *typed))
        return Command(name, tuple(parameter.name for parameter in needed), (example,))

    def _parameter(self, name: str) -> Parameter:
        annotation: Any = self.function.__annotations__[name]
        kind_of: Any = annotation
        notes: tuple[object, ...] = ()
        if hasattr(annotation, "__metadata__"):
            kind_of, notes = annotation.__origin__, annotation.__metadata__
        choices: tuple[str, ...] = ()
        if get_origin(kind_of) is Literal:
            choices, kind_of = get_args(kind_of), str
        else:
            choices = next((note for note in notes if isinstance(note, tuple)), ())
        # `X | None` marks a parameter whose absence means something else than any value.
        if kind_of not in _KINDS:
            kind_of = next(part for part in get_args(kind_of) if part is not type(None))
        defaults = self.function.__kwdefaults__ or {}
        return Parameter(
            name=name,
            kind=_KINDS[kind_of],
            about=next((note for note in notes if isinstance(note, str)), ""),
            required=name not in defaults,
            default=defaults.get(name),
            choices=choices,
            range=next((note for note in notes if isinstance(note, Range)), None),
            listed=not any(isinstance(note, Unlisted) for note in notes),
        )


# The first word of a derived command, by the tool's group, and the beginnings of tools' names nobody types.
_SPOKEN_FIRST = {"sdd": "sdd", "workspace": "ws", "budget": "budget"}
_UNSPOKEN = ("mem_", "sdd_", "vcs_", "budget_")
_SAMPLES = {"integer": "1", "integers": "1", "number": "0.5", "boolean": "true", "object": "{}"}

_TOOLS: dict[str, Tool] = {}
_RESUMES: dict[str, Callable[..., Any]] = {}
_SAMPLING: dict[str, Callable[..., Any]] = {}


def tool(
    *commands: Command,
    group: str,
    writes: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
    level: str = "",
    confirms: bool | None = None,
    default_tokens: int = 0,
    title: str = "",
    terminal_only: bool = False,
    always_loaded: bool = False,
    atomic: bool = False,
) -> Callable[[Callable[..., Outcome]], Callable[..., Outcome]]:
    """Declare a function as a tool.

    `level` is the detail level replies have by default, for tools whose blocks have several, and
    `default_tokens` the budget of a call that names none (0: the usual allocation). A tool that `writes` without
    changing more when called again is `idempotent`; a reading tool always is. One that only `confirms` a write
    (as those that write do, unless they say otherwise) has short replies, so clients are not told of `max_tokens`.
    `commands` say how it is typed; a tool without any is typed by its name, with the parameters it needs in order.
    A tool that is `terminal_only`, as it reads or writes any file its caller names, is never offered to a model;
    one that is `always_loaded` stays in view of clients that load tools when they are searched for. The changes of an
    `atomic` tool are written in one transaction with its debit and its work log entry: for short, frequent writes.
    """

    def declare(function: Callable[..., Outcome]) -> Callable[..., Outcome]:
        _TOOLS[function.__name__] = Tool(
            function,
            group=group,
            writes=writes,
            destructive=destructive,
            idempotent=idempotent or not writes,
            level=level,
            confirms=writes if confirms is None else confirms,
            default_tokens=default_tokens,
            title=title or function.__name__.removeprefix("mem_").replace("_", " ").capitalize(),
            commands=commands,
            terminal_only=terminal_only,
            always_loaded=always_loaded,
            atomic=atomic,
        )
        return function

    return declare


def resumes(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register how a result that was not rendered to its end goes on: `(caller, state) -> (blocks, Rest | None)`."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _RESUMES[name] = function
        return function

    return register


def resuming(name: str) -> Callable[..., Any]:
    """The function registered under a name by `resumes`."""
    if name not in _RESUMES:
        from haversack.tools.registry import load_mentioning  # this process may not have imported the tool yet

        load_mentioning(f'@resumes("{name}")', until=lambda: name in _RESUMES, mark="@resumes(")
    return _RESUMES[name]


def samples(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register how a result that goes on samples its remaining items, to price them: `(caller, rest) -> blocks`."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _SAMPLING[name] = function
        return function

    return register


def sampling(name: str) -> Callable[..., Any] | None:
    """The function registered under a name by `samples`, which stands beside the one by `resumes`."""
    resuming(name)
    return _SAMPLING.get(name)


def declared() -> Mapping[str, Tool]:
    """Every tool that has been declared, by name."""
    return _TOOLS


def unknown_tool(name: str, known: Sequence[str]) -> UnknownTool:
    """The error for a name no tool has, with the nearest ones."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"tools: {', '.join(sorted(known))}"
    return UnknownTool(f"no tool called {name[:80]!r}", hint=hint)


def unknown_parameter(tool_: Tool, name: str) -> InvalidArgument:
    """The error for a parameter the tool does not have."""
    known = ", ".join(parameter.name for parameter in tool_.parameters)
    return InvalidArgument(f"{tool_.name} has no parameter {name[:80]!r}", hint=f"parameters: {known}")
