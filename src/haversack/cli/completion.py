"""Completion scripts, made from the same declarations as the commands."""

from haversack import terminal
from haversack.argument_parser import plain_parser
from haversack.cli.doors import OWN
from haversack.cli.options import parser_for
from haversack.cli.overview import commands


def options() -> dict[str, list[str]]:
    """Every command with its options; the first word of a two-word command with its second words."""
    found = {door.name: ["--help"] for door in OWN}
    for command, tool in commands():
        parser = parser_for(command, tool)
        names = [name for action in parser._actions for name in action.option_strings if name.startswith("--")]
        found[command.name] = sorted(names)
    for name in [name for name in found if " " in name]:
        first, _, second = name.partition(" ")
        found.setdefault(first, []).append(second)
    return found


def script(shell: str) -> str:
    """The completion script of a shell."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](options())


def _first_words(known: dict[str, list[str]]) -> str:
    return " ".join(name for name in known if " " not in name)


def _bash(known: dict[str, list[str]]) -> str:
    cases = "\n".join(f'    "{name}") words="{" ".join(names)}" ;;' for name, names in known.items())
    return f"""_haversack() {{
  local words current="${{COMP_WORDS[COMP_CWORD]}}" command="${{COMP_WORDS[1]}}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{_first_words(known)}" -- "$current"))
    return
  fi
  if [ "$COMP_CWORD" -gt 2 ]; then
    case "$command ${{COMP_WORDS[2]}}" in
      {_two_words(known)}) command="$command ${{COMP_WORDS[2]}}" ;;
    esac
  fi
  case "$command" in
{cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _haversack haversack"""


def _zsh(known: dict[str, list[str]]) -> str:
    cases = "\n".join(f'    "{name}") compadd -- {" ".join(names)} ;;' for name, names in known.items())
    return f"""#compdef haversack
_haversack() {{
  local command="${{words[2]}}"
  if (( CURRENT == 2 )); then
    compadd -- {_first_words(known)}
    return
  fi
  if (( CURRENT > 3 )); then
    case "$command ${{words[3]}}" in
      {_two_words(known)}) command="$command ${{words[3]}}" ;;
    esac
  fi
  case "$command" in
{cases}
  esac
}}
compdef _haversack haversack"""


def _two_words(known: dict[str, list[str]]) -> str:
    return "|".join(f'"{name}"' for name in known if " " in name)


def _fish(known: dict[str, list[str]]) -> str:
    lines = [f"complete -c haversack -f -n __fish_use_subcommand -a '{_first_words(known)}'"]
    for name, words in known.items():
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in name.split())
        for word in words:
            what = f"-l {word.removeprefix('--')}" if word.startswith("--") else f"-a {word}"
            lines.append(f"complete -c haversack -n '{seen}' {what}")
    return "\n".join(lines)


def run(typed: list[str]) -> int:
    """Run `haversack completion`."""
    parser = plain_parser(
        "completion",
        "Print a completion script for a shell.",
        'eval "$(haversack completion bash)"',
        "haversack completion fish > ~/.config/fish/completions/haversack.fish",
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))
    terminal.show(script(parser.parse_args(typed).shell))
    return 0
