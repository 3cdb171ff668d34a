"""Completion scripts, made from the same declarations as the commands."""

from collections.abc import Mapping, Sequence

from haversack import terminal
from haversack.argument_parser import long_options, plain_parser
from haversack.cli.doors import OWN, Door
from haversack.cli.options import option_names, parser_for
from haversack.cli.overview import commands
from haversack.tools.declaration import Command, Parameter, Tool
from haversack.values import record

_SOURCES = {"project": "project", "kind": "kind", "tags": "tag"}
_IDENTIFIERS = ("id", "ids", "observation_id", "from_id", "to_id")
_OTHER_IDENTIFIERS = {"unrelate": "", "restore": "deleted"}
"""Commands whose id is not that of an observation in use: a relation's, which has no title, and a deleted one's."""


@record
class Completed:
    """What can be typed with a command: its options, and the source of the values of options and positionals.

    A source is a name that `haversack complete-values` takes, or the choices themselves.
    """

    options: tuple[str, ...]
    values: Mapping[str, str | tuple[str, ...]]
    positional: str = ""


def completions(doors: Sequence[Door] = OWN) -> dict[str, Completed]:
    """Every command and alias; the first word of a two-word command with its second words."""
    found = {door.name: _of_door(door) for door in doors if door.listed}
    for command, tool in commands():
        for name in (command.name, *command.aliases):
            found[name] = _completed(command, tool)
    for name in [name for name in found if " " in name]:
        first, _, second = name.partition(" ")
        before = found.get(first, Completed((), {}))
        found[first] = Completed((*before.options, second), before.values, before.positional)
    return found


def _of_door(door: Door) -> Completed:
    """The options of a command that is no tool, and the choices it has for them or for its first word."""
    parser = door.parser()
    if parser is None:
        return Completed(("--help",), {})
    chosen = {action: tuple(map(str, action.choices)) for action in parser._actions if action.choices}
    values = {name: chosen[action] for action in chosen for name in action.option_strings if name.startswith("--")}
    first = next((chosen[action] for action in chosen if not action.option_strings), ())
    return Completed((*sorted(long_options(parser)), *first), values)


def _completed(command: Command, tool: Tool) -> Completed:
    parser = parser_for(command, tool)
    names = long_options(parser)
    values: dict[str, str | tuple[str, ...]] = {}
    positional = ""
    for parameter in tool.parameters:
        source = _source(command, parameter)
        if not source or not command.takes(parameter):
            continue
        if parameter.name in command.positionals and isinstance(source, str):
            positional = positional or source
        values |= {name: source for name in option_names(parameter, command, tool) if name in names}
    return Completed(tuple(sorted(names)), values, positional)


def _source(command: Command, parameter: Parameter) -> str | tuple[str, ...]:
    if parameter.choices:
        return parameter.choices
    if parameter.kind in ("integer", "integers") and parameter.name in _IDENTIFIERS:
        return _OTHER_IDENTIFIERS.get(command.name, "id")
    return _SOURCES.get(parameter.name, "")


def script(shell: str, doors: Sequence[Door] = OWN) -> str:
    """The completion script of a shell."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](completions(doors))


def _first_words(known: Mapping[str, Completed]) -> str:
    return " ".join(name for name in known if " " not in name)


def _two_words(known: Mapping[str, Completed]) -> str:
    return "|".join(f'"{name}"' for name in known if " " in name)


def _cases(known: Mapping[str, Completed], stored: str, chosen: str) -> str:
    """A case for every option of a command that takes a value; the templates have a placeholder for the source."""
    lines: dict[str, list[str]] = {}
    for name, each in known.items():
        for option, source in each.values.items():
            action = stored.format(source) if isinstance(source, str) else chosen.format(" ".join(source))
            lines.setdefault(action, []).append(f'"{name} {option}"')
    return "\n".join(f"    {'|'.join(patterns)}) {action}; return ;;" for action, patterns in lines.items())


def _positionals(known: Mapping[str, Completed], stored: str) -> str:
    lines: dict[str, list[str]] = {}
    for name, each in known.items():
        if each.positional:
            lines.setdefault(stored.format(each.positional), []).append(f'"{name}"')
    return "\n".join(f"    {'|'.join(patterns)}) {action} ;;" for action, patterns in lines.items())


def _bash(known: Mapping[str, Completed]) -> str:
    cases = "\n".join(f'    "{name}") words="{" ".join(each.options)}" ;;' for name, each in known.items())
    choices = 'COMPREPLY=($(compgen -W "{}" -- "$current"))'
    return f"""_haversack_values() {{
  local line word="${{2//\\\\/}}"
  word="${{word#[\\"\\']}}"
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <(haversack complete-values "$1" "$word" 2>/dev/null)
  local at
  for at in "${{!COMPREPLY[@]}}"; do
    line="${{COMPREPLY[at]}}"
    # The title stands beside an id while there is a choice; one that is put into the line stands alone.
    if [[ "$line" == *$'\\t'* && ${{#COMPREPLY[@]}} -gt 1 && "$COMP_TYPE" != 37 && "$COMP_TYPE" != 42 ]]; then
      COMPREPLY[at]="${{line/$'\\t'/  }}"
    elif [[ "$2" == [\\"\\']* ]]; then
      COMPREPLY[at]="${{line%%$'\\t'*}}"
    else
      printf -v line %q "${{line%%$'\\t'*}}"
      COMPREPLY[at]="$line"
    fi
  done
}}
_haversack() {{
  local words current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" command="${{COMP_WORDS[1]}}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{_first_words(known)}" -- "$current"))
    return
  fi
  if [ "$COMP_CWORD" -gt 2 ]; then
    case "$command ${{COMP_WORDS[2]}}" in
      {_two_words(known)}) command="$command ${{COMP_WORDS[2]}}" ;;
    esac
  fi
  # In --option=value the sign is a word of its own.
  if [ "$current" = "=" ]; then
    current=""
  elif [ "$before" = "=" ]; then
    before="${{COMP_WORDS[COMP_CWORD-2]}}"
  fi
  case "$command $before" in
{_cases(known, '_haversack_values {} "$current"', choices)}
  esac
  case "$command" in
{cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ "$current" == -* || ${{#COMPREPLY[@]}} -gt 0 && -n "$current" ]]; then
    return
  fi
  case "$command" in
{_positionals(known, '_haversack_values {} "$current"')}
  esac
}}
complete -o default -F _haversack haversack"""


def _zsh(known: Mapping[str, Completed]) -> str:
    cases = "\n".join(f'    "{name}") compadd -- {" ".join(each.options)} ;;' for name, each in known.items())
    return f"""#compdef haversack
_haversack_values() {{
  local -a lines found shown
  lines=("${{(@f)$(haversack complete-values "$1" "${{(Q)PREFIX}}" 2>/dev/null)}}")
  lines=("${{(@)lines:#}}")
  found=("${{(@)lines%%$'\\t'*}}")
  shown=("${{(@)lines/$'\\t'/  }}")
  # The titles of ids are matched by the program, so what is typed need not begin them.
  compadd -U -l -d shown -a found
}}
_haversack() {{
  local command="${{words[2]}}" before="${{words[CURRENT-1]}}"
  if (( CURRENT == 2 )); then
    compadd -- {_first_words(known)}
    return
  fi
  if (( CURRENT > 3 )); then
    case "$command ${{words[3]}}" in
      {_two_words(known)}) command="$command ${{words[3]}}" ;;
    esac
  fi
  if [[ "$PREFIX" == --*=* ]]; then
    before="${{PREFIX%%=*}}"
    compset -P '*='
  fi
  case "$command $before" in
{_cases(known, "_haversack_values {}", "compadd -- {}")}
  esac
  if [[ "$PREFIX" != -* ]]; then
    case "$command" in
{_positionals(known, "_haversack_values {}")}
    esac
  fi
  case "$command" in
{cases}
  esac
}}
compdef _haversack haversack"""


def _fish(known: Mapping[str, Completed]) -> str:
    lines = [
        "function __haversack_values",
        "  haversack complete-values $argv[1] (commandline -ct | string replace -r '^--[^=]*=' '') 2>/dev/null",
        "end",
        f"complete -c haversack -f -n __fish_use_subcommand -a '{_first_words(known)}'",
    ]
    for name, each in known.items():
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in name.split())
        for word in each.options:
            what = f"-l {word.removeprefix('--')}" if word.startswith("--") else f"-a {word}"
            source = each.values.get(word)
            if source:
                listed = f"(__haversack_values {source})" if isinstance(source, str) else " ".join(source)
                what += f" -x -a '{listed}'"
            lines.append(f"complete -c haversack -n '{seen}' {what}")
        if each.positional:
            lines.append(f"complete -c haversack -k -f -n '{seen}' -a '(__haversack_values {each.positional})'")
    return "\n".join(lines)


def run(typed: list[str], doors: Sequence[Door] = OWN) -> int:
    """Run `haversack completion`."""
    parser = plain_parser(
        "completion",
        "Print a completion script for a shell.",
        'eval "$(haversack completion bash)"',
        "haversack completion fish > ~/.config/fish/completions/haversack.fish",
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))
    terminal.show(script(parser.parse_args(typed).shell, doors))
    return 0
