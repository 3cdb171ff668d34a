"""Which files look like secrets, by their names."""

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
_HINTS = ("/.", "id_", "credential", "secret", "service", "netrc", "kubeconfig", *_ENDINGS)
"""Every secret name holds one of these, in small letters and after a slash, and most names hold none."""
_RAW_HINTS = (
    b"/.", b"\0.", b"id_", b"credential", b"secret", b"service", b"netrc", b"kubeconfig",
    *(ending.encode() + b"\0" for ending in _ENDINGS),
)  # fmt: skip

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


def may_hold_secrets(names: str) -> bool:
    """Whether any of many names, joined to one text, could look like a secret; quicker than asking of each."""
    lower = names.lower()
    return any(hint in lower for hint in _HINTS)


def suspects(names: bytes) -> set[bytes]:
    """Those of many NUL-separated names that might look like secrets; few of the others are among them."""
    whole = b"\0" + names + b"\0"
    lower = whole.lower()
    found = set()
    for hint in _RAW_HINTS:
        at = lower.find(hint)
        while at >= 0:
            start = whole.rfind(b"\0", 0, at + 1) + 1
            end = whole.find(b"\0", at + 1)
            found.add(whole[start:end])
            at = lower.find(hint, end)
    return found


class WithheldCount:
    """Counts withheld files as they are met."""

    def __init__(self) -> None:
        self._count = 0
        self._names: list[str] = []

    def add(self, path: str) -> None:
        self._count += 1
        if len(self._names) < NAMED:
            self._names.append(path)

    def total(self) -> Withheld:
        return Withheld(self._count, tuple(self._names))
