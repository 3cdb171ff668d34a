"""Numbers with their nouns."""


def counted(number: int, noun: str, several: str = "") -> str:
    """A number with its noun: `1 file`, `1,200 files`, `2 matches` where `several` is given."""
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"
