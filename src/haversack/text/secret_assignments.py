"""Secrets recognised by the name they are given: `DB_PASSWORD=...`, `"apiKey": "..."`, `--token ...`.

Code and prose are full of such names beside harmless values (`token: str`, `password = getpass()`), so the
less a line looks like a settings file, the more its value has to look like a secret.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from haversack.patterns import pattern
from haversack.text.secret_shapes import Span
from haversack.values import record

_MARKERS = ("key", "secret", "token", "pass", "pwd", "credential")
_LONGEST_NAME = 60
# How long a value with a digit must be, in the middle of a sentence, to be taken for a secret: a password after `:` or
# a bare `=`, one after a spaced `=` as code has it too, and a key or a token, whose names are common words.
_TELLING_PASSWORD, _TELLING_VALUE, _TELLING_KEY = 6, 8, 16
# A value that is no secret may hold further names; one as long as this is not searched for them, so that the
# work stays in proportion to the text.
_LONG_VALUE = 256

_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
_NAME = pattern(r"[\w.-]{1,60}", re.ASCII)
_TO_VALUE = pattern(
    r"""(?:\\?["']\]?|\]|\*\*)?(?P<gap>[ \t]{0,4})(?P<sign>:=|=>|=|:|(?<=\w)(?=[ \t]))(?![=:/~])(?:\*\*)?[ \t]{0,4}"""
)
_NAME_WORD = pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_QUOTE = pattern(r"""\\?["'`]""")
_BARE_VALUE = pattern(r"[^\s\"'`]+")
_DELIMITED_VALUE = pattern(r"[^\s\"'`;&,)\\]+")
_DELIMITER = pattern(r"[;&?]")
_BLANK = pattern(r"\s")
_DIGIT = pattern(r"[0-9]")
_LETTER = pattern(r"[^\W\d_]")
_LINE_REST = pattern(r"[ \t]*(?:[#;]|//|\\|,?[ \t]*(?:\r?\n|\Z))")
_LINE_START = pattern(r"""(?:^|\n|\\n)[ \t>*-]{0,16}(?:export[ \t]+|set[ \t]+|ENV[ \t]+|-e[ \t]+|\$env:)?\\?["'`]?\Z""")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PASSWORDS = frozenset({"password", "passwd", "pwd", "pass", "passphrase", "passcode"})
_SENSITIVE = _PASSWORDS | {"secret", "token", "credential", "credentials", "key", "apikey", "secretkey"}
# A key is only a secret when the word before it says so; in upper case, unless it says otherwise.
_KEY_OF_SECRET = _words(
    """
    access account admin api app application auth client deploy encryption hmac jwt license master private secret
    service session shared signing ssh storage subscription webhook
    """
)
_KEY_OF_DATA = _words(
    """
    cache composite foreign group hash hot i18n index lookup map partition primary public publishable row shortcut
    sort topic translation unique
    """
)
# After the sensitive word these say that the value is about the secret, not the secret.
_ABOUT = _words(
    """
    age algo algorithm arn attempts budget bytes class column cost count dir enabled endpoint env error exists
    expiration expires expiry field file filename format function hash hashed header hint host id ids index input
    interval issuer label length level lifetime limit location manager max min name names number option page param
    parameter path pattern policy port prefix price provider ref regex region required reset rotation rule rules
    schema scope size source status stdin store strength suffix table timeout ttl type uri url usage used valid
    version window
    """
)
# Before it, likewise.
_ABOUT_BEFORE = _words(
    """
    continuation cursor has is max min next no num page pagination per public publishable sync total use
    """
)

_PLACEHOLDER = pattern(
    r"[$<{%\[(]|[\W_]+\Z|[xX]{3,}|0+\Z"
    r"|(?:your|change[-_ ]?(?:me|it)|replace|insert|example|placeholder|dummy|todo|tbd|redacted|removed|hidden|"
    r"masked|none|null|nil|undefined|true|false|yes|no|on|off|required|optional|string|str|text|bytes|number|"
    r"integer|int|boolean|bool|object|any|unknown|empty|unset|default|value|password|passwd|secret|token|key|"
    r"input|env|vault)(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_PATH_OR_URL = pattern(r"(?:~|\.{1,2})?[/\\]|[A-Za-z]:[\\/]|[A-Za-z][A-Za-z0-9+.-]*://|(?:[\w-]+/)+[\w-]+\.\w{1,5}\Z")
_ATTRIBUTE = pattern(r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+\Z", re.ASCII)
_VARIABLE = pattern(r"[A-Za-z_]\w*\Z", re.ASCII)
_TECHNICAL = pattern(r"(?:sha|md|aes|rsa|utf|base|argon|oauth|char|varchar|u?int|v)-?[0-9]+\Z", re.IGNORECASE)
_SAYS_SECRET = pattern(r"pass|token|secret|key|pwd|cred|self|args|user|conf|auth", re.IGNORECASE)


@record
class _Name:
    """A sensitive name: the shape it is reported as, and what its spelling implies about the value."""

    shape: str
    is_password: bool
    is_constant: bool
    needs_digit: bool


@record
class _Value:
    """The span of a value, the sign before it, and how it is written where it has no quotes."""

    span: Span
    sign: str
    bare: "_Bare | None"


@record
class _Bare:
    """How a value without quotes is written."""

    is_spaced: bool
    is_line: bool
    is_delimited: bool
    is_prose: bool


def assigned_secrets(text: str, lowered: str) -> Iterator[Span]:
    """The values of sensitive names in a text; `lowered` is the text in lower case, of the same length."""
    done = 0
    for start in sorted(place for marker in _MARKERS for place in _places(marker, lowered)):
        found = _NAME.match(text, start) if start >= done else None
        if found is None:
            continue
        done = found.end()
        head = text[max(0, start - _LONGEST_NAME) : start]
        name_start = start - len(head) + len(head.rstrip(_NAME_CHARACTERS))
        sign = _TO_VALUE.match(text, done)
        name = _sensitive_name(text[name_start:done]) if sign else None
        if sign is None or name is None or (value := _value(text, name_start, sign)) is None:
            continue
        span = value.span
        if _is_secret(text[span.start : span.end], name, value.sign, value.bare):
            yield span._replace(name=name.shape)
            done = span.end
        elif value.bare:
            done = _end_of_harmless(text, span)


def secret_under_name(name: str, value: str) -> str:
    """The shape of a string under a name, as in a JSON object; empty when it is no secret."""
    known = _sensitive_name(name)
    return known.shape if known and _is_secret(value, known, ":", None) else ""


def _places(marker: str, lowered: str) -> Iterator[int]:
    place = lowered.find(marker)
    while place >= 0:
        yield place
        place = lowered.find(marker, place + len(marker))


@lru_cache(maxsize=512)
def _sensitive_name(name: str) -> _Name | None:
    bare = name.strip(".-_")
    is_constant = bare.isupper()
    words = [word.lower() for word in _NAME_WORD.findall(bare)]
    last = max((place for place, word in enumerate(words) if word in _SENSITIVE), default=-1)
    if last < 0 or not _ABOUT_BEFORE.isdisjoint(words[:last]) or not _ABOUT.isdisjoint(words[last + 1 :]):
        return None
    if not is_constant and any(not word.isdigit() for word in words[last + 1 :]):
        return None
    word, qualifier = words[last], words[last - 1] if last else ""
    if (
        word == "key"
        and qualifier not in _KEY_OF_SECRET
        and (not is_constant or not qualifier or qualifier in _KEY_OF_DATA)
    ):
        return None
    if "aws" in words and "secret" in words:
        return _Name("aws-secret-key", is_password=False, is_constant=is_constant, needs_digit=False)
    shape = "password" if word in _PASSWORDS else "api-key" if word.endswith("key") else word.removesuffix("s")
    # "pass" is also what tests do, so it names a password only beside a value with a digit.
    return _Name(shape, word in _PASSWORDS, is_constant, needs_digit=word == "pass" and (last == 0 or not is_constant))


def _value(text: str, name_start: int, sign: re.Match[str]) -> _Value | None:
    """The span of the value after a name, and how it is written."""
    is_flag = text.startswith("--", name_start)
    if not sign["sign"] and not is_flag:
        return None
    at = sign.end()
    if quoted := _quoted(text, at):
        return _Value(quoted, sign["sign"], None)
    before = text[name_start - 1 : name_start]
    is_setting = before == ":" and text[name_start] == "_"
    is_delimited = is_flag or is_setting or (before != "" and before in ";?&'\"")
    found = (_DELIMITED_VALUE if is_delimited else _BARE_VALUE).match(text, at)
    if found is None:
        return None
    end = at + len(found.group().rstrip(",;."))
    is_spaced = bool(sign["gap"]) or text[sign.end("sign") : at] != ""
    # `connect(password=pw1, ...)` passes a variable; `user=me password=pw1` is a connection string.
    is_prose = sign["sign"] == ":" or (not is_spaced and text[end : end + 1] != ",")
    bare = _Bare(is_spaced, _is_own_line(text, name_start, end), is_delimited, is_prose)
    return _Value(Span(at, end, ""), sign["sign"], bare)


def _quoted(text: str, at: int) -> Span | None:
    """The span between quotes that begin here, when they close on the same line."""
    quote = _QUOTE.match(text, at)
    if quote is None:
        return None
    end = text.find(quote.group(), quote.end())
    while end > 0 and len(quote.group()) == 1 and text[end - 1] == "\\":
        end = text.find(quote.group(), end + 1)
    return Span(quote.end(), end, "") if end >= 0 and text.find("\n", quote.end(), end) < 0 else None


def _end_of_harmless(text: str, value: Span) -> int:
    """The position up to which a harmless value need not be searched again."""
    if value.end - value.start > _LONG_VALUE:
        return value.end
    delimiter = _DELIMITER.search(text, value.start, value.end)
    return delimiter.start() if delimiter else value.end


def _is_own_line(text: str, start: int, end: int) -> bool:
    """Whether an assignment is alone on its line, as in a settings file."""
    head = text[max(0, start - 32) : start]
    return (start <= 32 or "\n" in head or "\\n" in head) and bool(
        _LINE_START.search(head) and _LINE_REST.match(text, end)
    )


def _is_secret(value: str, name: _Name, sign: str, bare: _Bare | None) -> bool:
    may_hold_blanks = name.is_password and name.is_constant and sign == "="
    if _PLACEHOLDER.match(value) or (not may_hold_blanks and _BLANK.search(value)):
        return False
    is_aws = name.shape == "aws-secret-key" and len(value) == 40
    if not is_aws and (_PATH_OR_URL.match(value) or ("{" in value and "}" in value)):
        return False
    if value.isdigit():
        return name.is_password and len(value) >= 4 and (bare is None or bare.is_line) and name.is_constant
    if bare is None:
        return _is_secret_string(value, name)
    return _is_secret_word(value, name, sign, bare)


def _is_secret_string(value: str, name: _Name) -> bool:
    has_digit = _DIGIT.search(value) is not None
    if name.needs_digit and (not has_digit or not _LETTER.search(value)):
        return False
    if name.is_password:
        # A word in another alphabet is a label on a form.
        return len(value) >= 4 and (value.isascii() or has_digit)
    return len(value) >= 8 and (has_digit or (name.is_constant and len(value) >= 12) or len(value) >= 24)


def _is_secret_in_a_sentence(value: str, name: _Name, bare: _Bare) -> bool:
    """Whether a value with a digit inside a sentence is a secret: with weaker signs it must be longer."""
    if not name.is_password:
        return len(value) >= _TELLING_KEY and _LETTER.search(value) is not None
    if "/" in value:
        return False
    return len(value) >= (_TELLING_PASSWORD if bare.is_prose else _TELLING_VALUE)


def _is_secret_word(value: str, name: _Name, sign: str, bare: _Bare) -> bool:
    """Whether a value without quotes is a secret, and not a variable, a type or the next word of a sentence."""
    if any(bracket in value for bracket in "()[]{}<>") or _ATTRIBUTE.match(value):
        return False
    has_digit = _DIGIT.search(value) is not None
    if name.is_constant and sign == "=" and not bare.is_spaced:
        return len(value) >= (4 if name.is_password else 8) and (bare.is_line or bare.is_delimited or has_digit)
    if _VARIABLE.match(value) and (_SAYS_SECRET.search(value) or not has_digit):
        return name.is_constant and name.is_password and bare.is_line
    if not (bare.is_line or bare.is_delimited):
        return has_digit and not _TECHNICAL.match(value) and _is_secret_in_a_sentence(value, name, bare)
    if name.is_password:
        return len(value) >= 6 and (has_digit or not value.isalpha())
    return has_digit and len(value) >= (8 if bare.is_delimited or not _VARIABLE.match(value) else 16)
