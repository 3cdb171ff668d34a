"""Secrets recognised by their own shape, anywhere in a text.

`detect-secrets`, the kept library for this, finds much the same shapes, but takes 290 ms to import and 2.6 ms
for each line, says on which line a secret is rather than where in it, and leaves the replacing to others; a
save should take well under a millisecond altogether. So the shapes are held here, behind substring searches
that cost a text without secrets a few microseconds per kilobyte.
"""

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from haversack.patterns import pattern
from haversack.values import record


class Span(NamedTuple):
    """A secret's span in a text, in characters, and the name of its shape."""

    start: int
    end: int
    name: str


@record
class _Shape:
    """A pattern that is only tried on texts that hold one of its markers; group 1, if any, is the secret."""

    name: str
    markers: tuple[str, ...]
    pattern: re.Pattern[str]


_SHORTEST = 15


def _token(name: str, body: str, *markers: str) -> _Shape:
    # No pattern can begin inside a run of letters and digits, which also keeps each one linear.
    return _Shape(name, markers, pattern(rf"(?<![A-Za-z0-9_])(?:{body})(?![A-Za-z0-9])", re.ASCII))


_SHAPES = (
    _token("aws-access-key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}", "AKIA", "ASIA", "ABIA", "ACCA"),
    _token("google-api-key", r"AIza[\w-]{30,}", "AIza"),
    _token("google-oauth", r"ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}", "ya29.", "GOCSPX-"),
    _token("azure-client-secret", r"[\w~.]{3}[0-9]Q~[\w~.-]{31,34}", "Q~"),
    _token(
        "github-token",
        r"gh[pousr]_\w{16,}|github_pat_\w{16,}",
        "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_",
    ),
    _token(
        "gitlab-token",
        r"gl(?:pat|dt|ptt|rt|cbt|ft|soat|imt|agent|oas|ffct)-[\w.=-]{16,}|GR1348941[\w-]{20,}",
        "glpat-", "gldt-", "glptt-", "glrt-", "glcbt-", "glft-", "glsoat-", "glimt-", "glagent-", "gloas-",
        "glffct-", "GR1348941",
    ),
    _token("slack-token", r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{20,}", "xox", "xapp-"),
    _token("stripe-key", r"[rs]k_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{24,}", "k_", "whsec_"),
    _token("anthropic-key", r"sk-ant-[\w-]{16,}", "sk-ant-"),
    _token(
        "openai-key",
        # Digits are asked of the short ones, or a long hyphenated word in Slovak would do.
        r"sk-(?:proj|svcacct|admin|None|or-v1)-[\w-]{16,}|sk-(?:[A-Za-z0-9]{32,}|(?=[A-Za-z]*[0-9])[A-Za-z0-9]{16,})",
        "sk-",
    ),
    _token("npm-token", r"npm_[A-Za-z0-9]{30,}", "npm_"),
    _token("pypi-token", r"pypi-Ag[\w-]{16,}|pypi-[\w-]{60,}", "pypi-"),
    _token("huggingface-token", r"hf_[A-Za-z0-9]{20,}", "hf_"),
    _token("sendgrid-key", r"SG\.[\w-]{16,}\.[\w-]{16,}", "SG."),
    _token("twilio-key", r"SK[0-9a-f]{32}", "SK"),
    _token("mailgun-key", r"key-[0-9a-f]{32}", "key-"),
    _token("digitalocean-token", r"do[opr]_v1_[0-9a-f]{32,}", "_v1_"),
    _token("databricks-token", r"dapi[0-9a-f]{32}", "dapi"),
    _token("shopify-token", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}", "shp"),
    _token("docker-token", r"dckr_pat_[\w-]{20,}", "dckr_pat_"),
    _token("vault-token", r"hv[bs]\.[\w-]{24,}", "hvs.", "hvb."),
    _token("groq-key", r"gsk_[A-Za-z0-9]{32,}", "gsk_"),
    _token("age-key", r"AGE-SECRET-KEY-1[A-Z0-9]{40,}", "AGE-SECRET"),
    _Shape("telegram-token", (":AA",), pattern(r"(?<![0-9])[0-9]{8,10}:AA[\w-]{32,34}(?![\w-])", re.ASCII)),
    # A token of three parts is signed, one of five encrypted; both begin with a JSON object in base64.
    _Shape("jwt", ("eyJ",), pattern(r"(?<![\w-])eyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*){1,3}", re.ASCII)),
    _Shape(
        "slack-webhook",
        ("hooks.slack.com",),
        pattern(r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/+-]{16,})", re.ASCII),
    ),
    _Shape("discord-webhook", ("/api/webhooks/",), pattern(r"/api/webhooks/[0-9]+/([\w-]{32,})", re.ASCII)),
    _Shape(
        "azure-key",
        ("AccountKey", "accountkey", "SharedAccess", "sharedaccess"),
        pattern(r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/=]{20,})", re.IGNORECASE),
    ),
    _Shape("azure-signature", ("sig=",), pattern(r"[?&;]sig=([A-Za-z0-9%+/=]{30,})")),
)  # fmt: skip

# From the literal "://" a user and the last "@" before a slash or a blank are looked for.
_URL_PASSWORD = pattern(r"""://[^\s/:@"'<>`]*:([^\s/"'<>`]+)@""")
_NOT_A_PASSWORD = pattern(r"[0-9]{1,5}[?#]|\$|%[\w(]|\{|\[redacted:|\[private\]|\*+$|[xX]{3,}$")

_BEARER = pattern(r"\bbearer\s{1,4}([A-Za-z0-9._~+/=-]{16,})", re.IGNORECASE)
_AUTHORIZATION = pattern(
    r"""authorization\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?(?:(?:bearer|basic|token|apikey|digest)\s{1,4})?"""
    r"([A-Za-z0-9._~+/=-]{8,})",
    re.IGNORECASE,
)

_PEM_LINE = pattern(r"-----(?P<edge>BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
# Lines end with a line feed, or with its escape where the key stands in a JSON string.
_KEY_LINES = pattern(r"(?:(?:\s|\\[nr]|>)*(?:[A-Za-z0-9+/=]{24,}|[A-Z][A-Za-z-]{2,20}: [^\n]{1,200}\n))+")
_KEY_REST = pattern(r"(?:\s|\\[nr]|>)*[A-Za-z0-9+/=]+(?=\s|\\|$)")


def shaped_secrets(text: str) -> Iterator[Span]:
    """Every secret in the text that has a known shape; spans may overlap."""
    # Markers are only looked for in long words: ordinary text has few, and none of the shapes is shorter.
    long_words = " ".join([word for word in text.split() if len(word) >= _SHORTEST])
    for shape in _SHAPES if long_words else ():
        for marker in shape.markers:
            if marker in long_words:
                yield from _spans(shape.name, shape.pattern, text)
                break
    if "-----BEGIN" in text:
        yield from _private_keys(text)
    if "://" in text and "@" in text:
        for match in _URL_PASSWORD.finditer(text):
            if not _NOT_A_PASSWORD.match(match[1]):
                yield Span(*match.span(1), "url-password")


def header_secrets(text: str, lowered: str) -> Iterator[Span]:
    """The credentials of Authorization headers and bearer tokens; `lowered` is the text in lower case."""
    if "bearer" in lowered:
        for span in _spans("bearer-token", _BEARER, text):
            if _looks_random(text[span.start : span.end]):
                yield span
    if "authorization" in lowered:
        for span in _spans("authorization", _AUTHORIZATION, text):
            if _looks_random(text[span.start : span.end]):
                yield span


def _looks_random(value: str) -> bool:
    """Whether a header's value can be a credential rather than a word."""
    if any(character.isdigit() for character in value) or value.endswith("="):
        return True
    inner = value[1:]
    return len(value) >= 8 and inner.lower() != inner and inner.upper() != inner


def _spans(name: str, pattern: re.Pattern[str], text: str) -> Iterator[Span]:
    group = pattern.groups
    for match in pattern.finditer(text):
        yield Span(*match.span(group), name)


def _private_keys(text: str) -> Iterator[Span]:
    """Private-key blocks; one without an end line extends as far as its lines look like a key's."""
    edges = list(_PEM_LINE.finditer(text))
    for edge, following in zip_longest(edges, edges[1:]):
        if edge["edge"] == "END":
            continue
        if following is not None and following["edge"] == "END":
            yield Span(edge.start(), following.end(), "private-key")
            continue
        limit = following.start() if following else len(text)
        if body := _KEY_LINES.match(text, edge.end(), limit):
            rest = _KEY_REST.match(text, body.end(), limit)
            yield Span(edge.start(), rest.end() if rest else body.end(), "private-key")
