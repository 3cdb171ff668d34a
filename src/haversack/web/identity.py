"""The identity of a caller, and its scope."""

from haversack.values import record
from haversack.web.credentials import SCOPES, Token


@record
class Identity:
    """Somebody who has been recognized: by a token, a signed token or a cookie.

    `id` is what the journal and the rates know them by. `project` and `namespace` limit what they see; an empty
    project and the namespace None do not. In a team's store they act as `member`; empty means the server's own member.
    `expires` is when a signed token ends, in seconds since 1970.
    """

    id: str
    name: str
    scope: str
    project: str = ""
    namespace: str | None = None
    token_id: str = ""
    member: str = ""
    expires: float = 0

    def may(self, scope: str) -> bool:
        """Whether this scope includes the one needed."""
        return SCOPES.index(self.scope) >= SCOPES.index(scope)

    @property
    def is_limited(self) -> bool:
        return bool(self.project) or self.namespace is not None


def identity_of(token: Token) -> Identity:
    """The identity a token stands for."""
    return Identity(
        id=token.id, name=token.name, scope=token.scope, project=token.project, namespace=token.namespace,
        token_id=token.id, member=token.member,
    )  # fmt: skip
