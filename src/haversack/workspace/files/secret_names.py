"""Which files look like secrets, by their names."""

from bisect import insort

from haversack.patterns import pattern
from haversack.values import record

_FOLDERS = pattern(r"(?:^|/)\.(?:git|ssh|gnupg|aws|azure|kube|docker)(?:/|$)")
_NAMES = frozenset(
    {
        "id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", "credential", "credentials",
        ".credentials", "netrc", ".netrc", "_netrc", ".pgpass", ".my.cnf", ".npmrc", ".pypirc", ".dockercfg",
        ".htpasswd", ".boto", ".git-credentials", ".vault-token", "kubeconfig",
    }
)  # fmt: skip
_ENDINGS = (
    ".env", ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".tfstate",
    ".tfstate.backup", ".kubeconfig",
)  # fmt: skip
_DATA = pattern(
    r"(?:.*[-_.])?(?:credentials?|secrets?|service[-_]account)(?:[-_.].*)?"
    r"\.(?:json|ya?ml|toml|ini|cfg|conf|txt|xml|properties|csv)"
)
_HINTS = ("/.", "id_", "credential", "secret", "service", "netrc", "kubeconfig")
"""Every secret name holds one of these, in small letters and after a slash, or has one of the endings."""

NAMED = 10
"""How many withheld files a result names; it counts them all."""


@record
class Withheld:
    """Files that look like secrets and were left out: how many, and the names of the first."""

    count: int = 0
    names: tuple[str, ...] = ()


def looks_secret(path: str) -> bool:
    """Whether a relative path with forward slashes names an environment file, a key, credentials or git's own files."""
    lower = path.lower()
    name = lower[lower.rfind("/") + 1 :]
    if name.startswith(".env") or name in _NAMES or name.endswith(_ENDINGS):
        return True
    if ("credential" in name or "secret" in name or "service" in name) and _DATA.fullmatch(name):
        return True
    return (lower[:1] == "." or "/." in lower) and _FOLDERS.search(lower) is not None


def suspects(paths: list[str]) -> list[str]:
    """The paths that may look like secrets or are hidden, in order; a quick filter that lets a few others through."""
    # One look at all of them is far quicker than one at each, and most hold no hint.
    whole = "\0/" + "\0/".join(paths) + "\0"
    lower = whole.lower()
    if len(lower) != len(whole):
        return paths
    found = set()
    for hint in (*_HINTS, *(f"{ending}\0" for ending in _ENDINGS)):
        at = lower.find(hint)
        while at >= 0:
            start = whole.rfind("\0", 0, at + 1) + 2
            end = whole.find("\0", at + 1)
            found.add(whole[start:end])
            at = lower.find(hint, end)
    return [path for path in paths if path in found] if found else []


class WithheldCount:
    """Counts withheld files as they are met."""

    def __init__(self) -> None:
        self._count = 0
        self._names: list[str] = []

    def add(self, path: str) -> None:
        self._count += 1
        # They may come in any order, and the first of them are named.
        insort(self._names, path)
        del self._names[NAMED:]

    def total(self) -> Withheld:
        return Withheld(self._count, tuple(self._names))
