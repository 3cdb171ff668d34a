"""Which files look like secrets, by their names."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SECRET_NAMES = r"""
    \.env[^/]* | [^/]*\.env
  | (?:id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?) | [^/]*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|tfstate(?:\.backup)?)
  | \.?credentials? | \.?_?netrc | \.pgpass | \.my\.cnf | \.npmrc | \.pypirc | \.dockercfg | \.htpasswd | \.boto
  | \.git-credentials | \.vault-token | kubeconfig | [^/]*\.kubeconfig
  | (?:[^/]*[-_.])?(?:credentials?|secrets?|service[-_]account)(?:[-_.][^/]*)?
    \.(?:json|ya?ml|toml|ini|cfg|conf|txt|xml|properties|csv)
"""
_SECRET_FOLDERS = r"\.git|\.ssh|\.gnupg|\.aws|\.azure|\.kube|\.docker"

_SECRET = re.compile(
    rf"(?:^|/)(?:{_SECRET_FOLDERS})/ | (?:^|/)(?:{_SECRET_NAMES})$ | (?:^|/)\.git$", re.IGNORECASE | re.VERBOSE
)
# Every secret name holds one of these, and most paths hold none: looking for them first is several times as fast.
_HINTS = (
    r"\.(?:env|git|ssh|gnupg|aws|azure|kube|docker|pem|key|p12|pfx|jks|ppk|tfstate|pgpass|my\.cnf|npmrc|pypirc|htpasswd"
    r"|boto|vault)|id_|kdbx|netrc|credential|secret|service|kubeconfig"
)
_HINT = re.compile(_HINTS, re.IGNORECASE)
_RAW_HINT = re.compile(_HINTS.encode(), re.IGNORECASE)

NAMED = 10
"""How many withheld files a result names; it counts them all."""


@dataclass(frozen=True, slots=True)
class Withheld:
    """Files that look like secrets and were left out: how many, and the names of the first."""

    count: int = 0
    names: tuple[str, ...] = ()


def looks_secret(path: str) -> bool:
    """Whether a relative path with forward slashes names an environment file, a key, credentials or git's own files."""
    return _HINT.search(path) is not None and _SECRET.search(path) is not None


def suspects(names: bytes) -> Iterator[bytes]:
    """Those of many NUL-separated names that might look like secrets; found without taking the names apart."""
    at = 0
    while found := _RAW_HINT.search(names, at):
        start = names.rfind(b"\0", at, found.start()) + 1 or at
        end = names.find(b"\0", found.end())
        at = end if end >= 0 else len(names)
        yield names[start:at]


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
