"""Components of paths that are no names of files."""

DEVICE_NAMES = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"}
    | {f"{port}{number}" for port in ("com", "lpt") for number in "0123456789¹²³"}
)
"""Names that Windows gives to devices in every folder, whatever ending they have."""


def is_refused(part: str) -> bool:
    """Whether a component names no file of its folder."""
    return part in ("", ".", "..") or "\0" in part


def is_refused_by_windows(part: str) -> bool:
    """Whether Windows would read a component as another file, a stream or a device."""
    # `a:b` is a stream of a file or another drive; `con.txt` is the console; `a.` and `a ` are `a`.
    return (
        is_refused(part)
        or any(mark in '\\:*?"<>|' or mark < " " for mark in part)
        or part[-1] in ". "
        or part.split(".")[0].rstrip().lower() in DEVICE_NAMES
    )
