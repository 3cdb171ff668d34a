"""The borders of redaction: for each rule a value that is just a secret, and one that is just none."""

import pytest

from haversack.text.redaction import Redacted, redact, redact_json

FAR = "x" * 40
"""More than the part of a line that is looked at before a name."""

# What is between the brackets is the secret.
SECRET = [
    # Names.
    "ID_TOKEN=⟦abcd1234efgh⟧",
    "token2 = '⟦abcd1234efgh⟧'",
    "ACME_KEY=⟦abcd1234efgh⟧",
    'DB_PASS="⟦letmein⟧"',
    'db_pass = "⟦hunter2⟧"',
    'PASS="⟦hunter2⟧"',
    'PASSWORD="⟦letmein⟧"',
    'password = "⟦letmein⟧"',
    # Quotes.
    'password = "⟦abc12\\"⟧"',
    'PASSWORD="⟦1234⟧"',
    'password = "⟦abc1⟧"',
    'password = "⟦пароль1⟧"',
    'token = "⟦abcd1234⟧"',
    'TOKEN="⟦abcdefghijkl⟧"',
    'token = "⟦abcdefghijklmnopqrstuvwx⟧"',
    'token = "⟦abc{name12345⟧"',
    # Lines of their own.
    "PASSWORD=⟦1234⟧",
    "PASSWORD=⟦abcd⟧",
    "MY_TOKEN=⟦abcdefgh⟧",
    "token: ⟦abcd-123⟧",
    "token: ⟦abcdefgh12345678⟧",
    "password: ⟦abc-12⟧",
    "password: ⟦ab--cd⟧",
    FAR + "\ntoken: ⟦abcd-1234⟧",
    FAR + "\\n token: ⟦abcd-1234⟧",
    # Within a line.
    "x/:_authToken=⟦abcd1234⟧ here",
    "so PASSWORD=⟦abc1⟧ here",
    "x" * 300 + " token=none;password=⟦hunter2x9⟧ then",
    # Known by their shape.
    "xoxb-⟦1234567890⟧",
    "Authorization: Basic ⟦aBcdefgh⟧",
]
HARMLESS = [
    "TOKEN_LIMIT=abcd1234efgh",
    'token_value = "abcd1234efgh"',
    "acme_key = 'abcd1234efgh'",
    "KEY=abcd1234efgh",
    "CACHE_KEY=abcd1234efgh",
    'PASS="letmein"',
    'db_pass = "letmein"',
    'pass = "!!12345"',
    'password = "abc12345',
    'password = "abc\ndef12345"',
    'password = "two words 12"',
    'PASSWORD="123"',
    'password = "123456"',
    'password = "ab1"',
    'password = "пароль"',
    'token = "abc1234"',
    'TOKEN="abcdefghijk"',
    'token = "abcdefghijklmnopqrstuvw"',
    'token = "abc{name}12345"',
    'token = "/etc/app/token1234"',
    'token = "/usr/local/share/secrets/application-ke1"',
    "so PASSWORD=1234 is",
    "PASSWORD=abc",
    "MY_TOKEN=abcdefg",
    "token: abc-123",
    "token: abcdefgh1234567",
    "password: ab-12",
    "password: letmein",
    "password: mypass1word",
    "a token: abcd-1234",
    "so the token: abcd-1234",
    "so :token=abcd1234 here",
    "the _token=abcd1234 here",
    "we set password= abc1234 then",
    "the password: a/b12345 works",
    "so MY_TOKEN=abcdefgh here",
    "so MY_TOKEN = abcd1234 here",
    "so MY_TOKEN: abcd1234 here",
]


@pytest.mark.parametrize("marked", SECRET)
def test_what_is_just_a_secret_is_taken_out(marked: str) -> None:
    secret = marked.partition("⟦")[2].partition("⟧")[0]
    redacted = redact(marked.replace("⟦", "").replace("⟧", ""))
    assert secret not in redacted.text
    assert len(redacted.found) == 1


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_just_no_secret_stays(text: str) -> None:
    assert redact(text) == Redacted(text, ())


def test_a_secret_in_a_short_key_of_an_object_is_taken_out() -> None:
    assert "hunter2x9" not in str(redact_json({"pwd=hunter2x9": 1}))


def test_a_secret_of_letters_alone_is_taken_out_of_the_keys_of_an_object() -> None:
    secret = "AKIA" + "IOSFODNN" + "SEXAMPLE"
    assert secret.isalpha()
    assert secret not in str(redact_json({secret: 1}))
