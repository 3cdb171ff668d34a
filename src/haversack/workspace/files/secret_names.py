"""Which files look like secrets, by their names."""

from bisect import insort

from haversack.patterns import pattern
from haversack.values import record

_FOLDERS = pattern(r"(?:^|/)\.(?:git|ssh|gnupg|aws|azure|kube|docker|gcloud|config/(?:gcloud|gh))(?:/|$)")
_NAMES = frozenset(
    {
        "credential", "credentials", ".credentials", "netrc", ".netrc", "_netrc", ".pgpass", ".my.cnf", ".npmrc",
        ".pypirc", ".dockercfg", ".htpasswd", ".boto", ".s3cfg", ".git-credentials", ".terraformrc", ".vault-token",
        ".vault_pass", ".vault-pass", "kubeconfig", "secring.gpg",
    }
)  # fmt: skip
_BEGINNINGS = (".env", ".dev.vars")
_ENDINGS = (
    ".env", ".pem", ".key", ".p8", ".p12", ".pfx", ".jks", ".keystore", ".keytab", ".kdbx", ".ppk", ".tfstate",
    ".tfvars", ".tfvars.json", ".kubeconfig", ".ovpn",
)  # fmt: skip
_COPIES = (".bak", ".backup", ".old", ".orig", ".save", ".saved", ".copy", ".tmp", ".swp", "~")
"""Endings that programs and people give to a copy of a file: what it copies says whether it is a secret."""
_KEY = pattern(r"id_(?:rsa|dsa|ecdsa|ed25519)(?:[-_][\w-]+)?")
_DATA = pattern(
    r"(?:.*credentials?.*|(?:.*[-_.])?(?:secrets?|service[-_]account)(?:[-_.].*)?|kubeconfig.*)"
    r"\.(?:json|ya?ml|toml|ini|cfg|conf|txt|xml|properties|csv)"
)
_BARE = pattern(r"\.?(?:[\w-]*[-_])?credentials?(?:[-_][\w-]*)?")
"""Credentials in a file without an ending."""
_HINTS = ("/.", "id_", "credential", "secret", "secring", "service", "netrc", "kubeconfig")
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
    while name.endswith(_COPIES):
        name = name[: max(name.rfind("."), 0)] if name[-1] != "~" else name[:-1]
    if name.startswith(_BEGINNINGS) or name in _NAMES or name.endswith(_ENDINGS) or _KEY.fullmatch(name):
        return True
    if any(hint in name for hint in ("credential", "secret", "service", "kubeconfig")) and (
        _DATA.fullmatch(name) or _BARE.fullmatch(name)
    ):
        return True
    return (lower[:1] == "." or "/." in lower) and _FOLDERS.search(lower) is not None


def suspects(paths: list[str]) -> list[str]:
    """The paths that may look like secrets or are hidden, in order; a quick filter that lets a few others through."""
    # One search in all names is far faster than one in each, and most hold no hint.
    whole = "\0/" + "\0/".join(paths) + "\0"
    lower = whole.lower()
    if len(lower) != len(whole):
        return paths
    found = set()
    for hint in (*_HINTS, *(f"{ending}\0" for ending in _ENDINGS + _COPIES)):
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
