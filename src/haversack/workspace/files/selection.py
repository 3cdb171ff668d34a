"""Which files a call selects: below a path, matching a pattern, within a depth, neither hidden nor secret."""

import re

from haversack.errors import InvalidArgument
from haversack.values import record
from haversack.workspace.files.globs import compile_glob
from haversack.workspace.files.secret_names import WithheldCount, looks_secret, suspects


@record
class Names:
    """Some files: their paths from the root as the file system has them, and as they are shown."""

    raw: list[str]
    shown: list[str]

    @property
    def are_plain(self) -> bool:
        """Whether every path is shown exactly as the file system has it; nearly all are."""
        return self.raw is self.shown


class Selection:
    """Selects paths, and counts the others by reason.

    `deeper` counts the files a pattern without a folder part would take if it crossed folders.
    """

    def __init__(
        self,
        base: str,
        *,
        pattern: str = "",
        by_name: bool = False,
        max_depth: int | None = None,
        include_hidden: bool = False,
        allow_secrets: bool = False,
    ) -> None:
        if max_depth is not None and max_depth < 1:
            raise InvalidArgument(f"max_depth is {max_depth}", hint="1 lists the files of the folder itself")
        self._skip = len(base) + 1 if base else 0
        self._glob = compile_glob(pattern, anywhere=by_name) if pattern else None
        self._deep_glob: re.Pattern[str] | None = None
        if pattern and not by_name and "/" not in pattern and "**" not in pattern:
            self._deep_glob = compile_glob(pattern, anywhere=True)
        self._max_depth = max_depth
        self._include_hidden = include_hidden
        self._allow_secrets = allow_secrets
        self.hidden = 0
        self.deeper = 0
        self.withheld = WithheldCount()

    def takes(self, path: str) -> bool:
        """Whether a file is selected."""
        # The base may be the file itself, which is then judged by its name, and taken even if it is hidden.
        below = path[self._skip :]
        is_base = not below
        below = below or path.rpartition("/")[2]
        if self._max_depth is not None and below.count("/") >= self._max_depth:
            return False
        if self._glob is not None and not self._glob.fullmatch(below):
            self.deeper += bool(self._deep_glob and self._deep_glob.fullmatch(below))
            return False
        if not self._allow_secrets and looks_secret(path):
            self.withheld.add(path)
            return False
        if not self._include_hidden and not is_base and (below[0] == "." or "/." in below):
            self.hidden += 1
            return False
        return True

    def taken(self, names: Names) -> Names:
        """The selected files of those given."""
        if self._glob is None and self._max_depth is None:
            refused = {path for path in suspects(names.shown) if not self.takes(path)}
        else:
            refused = {path for path in names.shown if not self.takes(path)}
        if not refused:
            return names
        if names.are_plain:
            kept = [path for path in names.shown if path not in refused]
            return Names(kept, kept)
        pairs = [pair for pair in zip(names.raw, names.shown, strict=True) if pair[1] not in refused]
        return Names([raw for raw, _ in pairs], [path for _, path in pairs])
