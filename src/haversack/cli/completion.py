"""Completion scripts, made from the same declarations as the commands."""

from haversack.cli.commands import COMMANDS, HOUSEKEEPING
from haversack.cli.options import parser_for
from haversack.tools.registry import find


def options() -> dict[str, list[str]]:
    """Every command with its options."""
    found = {name: ["--help"] for name in HOUSEKEEPING}
    for command in COMMANDS:
        parser = parser_for(command, find(command.tool))
        names = [name for action in parser._actions for name in action.option_strings if name.startswith("--")]
        found[command.name] = sorted(names)
    return found


def script(shell: str) -> str:
    """The completion script of a shell."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](options())


def _bash(known: dict[str, list[str]]) -> str:
    cases = "\n".join(f'    {name}) words="{" ".join(names)}" ;;' for name, names in known.items())
    return f"""_haversack() {{
  local words current="${{COMP_WORDS[COMP_CWORD]}}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{" ".join(known)}" -- "$current"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _haversack haversack"""


def _zsh(known: dict[str, list[str]]) -> str:
    cases = "\n".join(f"    {name}) compadd -- {' '.join(names)} ;;" for name, names in known.items())
    return f"""#compdef haversack
_haversack() {{
  if (( CURRENT == 2 )); then
    compadd -- {" ".join(known)}
    return
  fi
  case "${{words[2]}}" in
{cases}
  esac
}}
compdef _haversack haversack"""


def _fish(known: dict[str, list[str]]) -> str:
    lines = [f"complete -c haversack -f -n __fish_use_subcommand -a '{' '.join(known)}'"]
    for name, names in known.items():
        lines += [
            f"complete -c haversack -n '__fish_seen_subcommand_from {name}' -l {option.removeprefix('--')}"
            for option in names
        ]
    return "\n".join(lines)
