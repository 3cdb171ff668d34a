"""The URL of a store on a server: the server's own part, and this program's parameters."""

from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from haversack.errors import ConfigError
from haversack.patterns import pattern
from haversack.values import record

_NAME = pattern(r"[a-z_][a-z0-9_]{0,40}")
SCHEMES = ("postgresql", "postgres")


@record
class Address:
    """Where a store is: the server's URL without our parameters, the schema, and whether statements are prepared."""

    url: str
    schema: str
    prepares: bool

    def shown(self) -> str:
        """The address for messages, without a password."""
        parts = urlsplit(self.url)
        host = parts.netloc.rpartition("@")[2]
        name = parts.username
        query = urlencode(
            [*(pair for pair in parse_qsl(parts.query) if pair[0] != "password"), ("schema", self.schema)]
        )
        return urlunsplit((parts.scheme, f"{name}@{host}" if name else host, parts.path, query, ""))


def is_server(url: str) -> bool:
    """Whether a text is the URL of a store on a server, rather than the path of a file."""
    return url.partition("://")[0] in SCHEMES


def parse_address(url: str) -> Address:
    """The parts of a URL; a wrong one is an error that names the setting."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise ConfigError(
            f"store.url is not an address: {error}", hint="write postgresql://USER@HOST/DATABASE"
        ) from None
    if parts.scheme not in SCHEMES:
        raise ConfigError(
            f"store.url begins with {parts.scheme + '://' if parts.scheme else 'no scheme'}",
            hint="write postgresql://USER@HOST/DATABASE?schema=NAME, or leave it empty for a file",
        )
    given = dict(parse_qsl(parts.query))
    schema, prepare = given.pop("schema", "haversack"), given.pop("prepare", "on")
    if not _NAME.fullmatch(schema):
        raise ConfigError(f"store.url has schema={schema!r}", hint="use small letters, digits and _, at most 41")
    if prepare not in ("on", "off"):
        raise ConfigError(f"store.url has prepare={prepare!r}", hint="write prepare=on or prepare=off")
    if "," in parts.netloc + given.get("host", ""):
        # Of several servers in a URL, the one that accepts writes is used.
        given.setdefault("target_session_attrs", "read-write")
    return Address(urlunsplit(parts._replace(query=urlencode(given))), schema, prepare == "on")
