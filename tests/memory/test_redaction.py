import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from haversack.text.redaction import Redacted, describe, redact, redact_json

# Secrets are put together here, so that no scanner takes this file for a leak.
MIXED = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
HEX = "0123456789abcdef0123456789abcdef"
JWT = "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0" + "." + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"

SHAPED = {
    "aws-access-key": ["AKIA" + "IOSFODNN7EXAMPLE", "ASIA" + "Y34FZKBOKMUTVV7A"],
    "google-api-key": ["AIza" + "SyA1234567890abcdefghijklmnopqrstuv"],
    "google-oauth": ["ya29." + MIXED, "GOCSPX-" + MIXED],
    "azure-client-secret": ["abc8" + "Q~" + MIXED[:32]],
    "github-token": [
        *(prefix + MIXED for prefix in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_")),
        "ghp_" + "a" * 36,
    ],
    "gitlab-token": ["glpat-" + MIXED[:20], "gldt-" + MIXED[:20], "glrt-" + MIXED[:20]],
    "slack-token": ["xoxb-" + "123456789012-" + MIXED, "xoxp-" + MIXED, "xapp-" + "1-A01-" + MIXED],
    "stripe-key": ["sk_live_" + MIXED, "rk_live_" + MIXED, "sk_test_" + MIXED, "whsec_" + MIXED],
    "anthropic-key": ["sk-ant-" + "api03-" + MIXED],
    "openai-key": ["sk-proj-" + MIXED + "_x-y", "sk-" + MIXED, "sk-" + "a" * 48],
    "npm-token": ["npm_" + MIXED],
    "pypi-token": ["pypi-" + "AgEIcHlwaS5vcmc" + MIXED],
    "huggingface-token": ["hf_" + MIXED],
    "sendgrid-key": ["SG." + MIXED[:22] + "." + MIXED],
    "twilio-key": ["SK" + HEX],
    "mailgun-key": ["key-" + HEX],
    "digitalocean-token": ["dop_v1_" + HEX * 2],
    "databricks-token": ["dapi" + HEX],
    "shopify-token": ["shpat_" + HEX],
    "docker-token": ["dckr_pat_" + MIXED],
    "vault-token": ["hvs." + MIXED],
    "groq-key": ["gsk_" + MIXED],
    "age-key": ["AGE-SECRET-KEY-1" + "Q" * 58],
    "telegram-token": ["123456789:AA" + MIXED[:33]],
    "jwt": [JWT, JWT.rsplit(".", 1)[0] + "."],
}
SHAPED_CASES = [(name, secret) for name, secrets in SHAPED.items() for secret in secrets]


@pytest.mark.parametrize(("name", "secret"), SHAPED_CASES)
@pytest.mark.parametrize(
    "around", ["{}", "the key is {}, keep it", "key=`{}`", "({})", '"{}"', "数据{}数据", "x\n{}\ny"]
)
def test_a_secret_is_known_by_its_shape_wherever_it_stands(name: str, secret: str, around: str) -> None:
    redacted = redact(around.format(secret))
    assert redacted.text == around.format(f"[redacted:{name}]")
    assert redacted.found == (name,)


# What is between the brackets is the secret.
NAMED = [
    ("aws-secret-key", "aws_secret_access_key = ⟦wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY⟧"),
    ("aws-secret-key", 'aws_secret_access_key = "⟦wJalrXUtnFEMIaKaMDENGabPxRfiCYEXAMPLEKEY⟧"'),
    ("aws-secret-key", 'AWS_SECRET_ACCESS_KEY="⟦/Jalr+UtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY⟧"'),
    ("azure-key", "AccountName=x;AccountKey=⟦abcd1234abcd1234abcd1234abcd1234==⟧;EndpointSuffix=y"),
    ("azure-signature", "https://x.example/c?sv=2024&sig=⟦abcd%2B1234abcd1234abcd1234abcd1234%3D⟧"),
    ("slack-webhook", "https://hooks.slack.com/services/⟦T0000000/B0000000/aaaaaaaaaaaaaaaa⟧"),
    ("discord-webhook", "https://discord.com/api/webhooks/123456/⟦abcdefghijklmnopqrstuvwxyz0123456789⟧"),
    ("url-password", "postgres://app:⟦hunter2⟧@db.example:5432/app"),
    ("url-password", "https://me:⟦p@ss:word⟧@example.org/x"),
    ("url-password", "redis://:⟦letmein⟧@localhost"),
    ("bearer-token", "then send Bearer ⟦abcdef1234567890abcdef⟧"),
    ("authorization", 'curl -H "Authorization: Basic ⟦dXNlcjpwYXNz⟧"'),
    ("api-key", "curl -H 'X-API-Key: ⟦abcd1234efgh⟧'"),
    ("password", "PASSWORD=⟦hunter2⟧"),
    ("password", "export DB_PASSWORD='⟦correct horse⟧'"),
    ("password", "DB_PASS=⟦hunter2⟧ # local"),
    ("password", "PASSWORD=⟦12345678⟧"),
    ("password", "POSTGRES_PASSWORD: ⟦hunter2⟧"),
    ("password", "services:\n  db:\n    password: ⟦hunter2⟧\n    port: 5432"),
    ("password", '{"user": "me", "password": "⟦hunter2⟧"}'),
    ("password", 'password = "⟦a\\"b1234⟧"'),
    ("password", '{\\"password\\": \\"⟦hunter2⟧\\"}'),
    ("password", "docker run -e MYSQL_ROOT_PASSWORD=⟦hunter22⟧ mysql"),
    ("password", "mysql --password=⟦hunter2⟧ -u root"),
    ("password", "host=db user=caller password=⟦hunter2⟧ dbname=x"),
    ("password", "Server=db;User Id=sa;Password=⟦Pa55word!⟧;"),
    ("password", "log in as admin, password: ⟦hunter2⟧, then go"),
    ("password", "**Password:** ⟦hunter2⟧"),
    ("password", "- ADMIN_PASSWORD=⟦letmein⟧"),
    ("token", "gh auth login --token ⟦abcd1234efgh5678⟧"),
    ("token", "//npm.example/:_authToken=⟦abcd1234efgh5678⟧"),
    ("token", "MY_TOKEN=⟦abcdefghijk⟧"),
    ("token", "token = ⟦a8f5f167f44f4964e6c998dee827110c⟧"),
    ("token", '$env:API_TOKEN="⟦abcdef123456⟧"'),
    ("secret", "client_secret = '⟦abcd1234efgh⟧'"),
    ("api-key", "SECRET_KEY_BASE=⟦0123456789abcdef⟧"),
    ("api-key", '{"apiKey": "⟦abcd1234efgh5678⟧"}'),
    ("api-key", "GET https://api.example/v1?api_key=⟦abcd1234efgh⟧&page=1"),
    ("api-key", "Encryption-Key: ⟦k3y-0123456789⟧"),
    ("credential", "DEPLOY_CREDENTIALS=⟦abcdefgh1234⟧"),
]


@pytest.mark.parametrize(("name", "marked"), NAMED)
def test_a_secret_is_known_by_the_name_it_is_given(name: str, marked: str) -> None:
    before, _, rest = marked.partition("⟦")
    secret, _, after = rest.partition("⟧")
    assert redact(before + secret + after) == Redacted(f"{before}[redacted:{name}]{after}", (name,))


HARMLESS = [
    # Prose.
    "the token: budget is fixed",
    "Key decisions: use Postgres",
    "the secret: keep it simple",
    "tests pass: 12, fail: 3",
    "password must be at least 8 characters",
    "passphrase: see the vault",
    "the password: sha256 of it",
    "Token: 42",
    "Bearer authentication is used with bearer tokens",
    "Authorization: required",
    "token budget: 4000",
    "AKIA is a prefix, as ghp_ is",
    "eyJust a word",
    "sk-SK is a locale",
    "task-1234567890abcdef1234",
    "the -----BEGIN RSA PRIVATE KEY----- header must be there",
    "KeyError: 'abc12345'",
    "compass: north1",
    # Settings without a secret.
    "max_tokens = 2000",
    "MAX_TOKEN=2000",
    "TOKEN_TTL=3600",
    "PASSWORD=",
    "API_KEY=<your-key>",
    "API_KEY=${VAR}",
    "API_KEY=$API_KEY",
    "TOKEN=xxxx",
    "TOKEN=xxxxxxxxxxxxxxxx",
    "PASSWORD=changeme",
    "password: ********",
    "PWD=/home/user1/project",
    "SSH_KEY_PATH=/home/me/.ssh/id_rsa",
    "tokenizer: o200k_base",
    "PRIMARY_KEY=user_id_123",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "token=$(gh auth token)",
    "--token <TOKEN>",
    "--password-stdin",
    "KEY=value",
    "secret_name: prod-db-credentials-v2",
    "keyboard=qwerty1",
    '"token": "refresh_token"',
    '"password": "string"',
    '"nextToken": "offset:100"',
    '"pass": "1.302.1"',
    "api_key: your-key-here-123",
    # Code.
    "def login(token: str, password: str) -> None:",
    "password = getpass()",
    'password = getpass.getpass("Password: ")',
    "token = self.token",
    'token = response.json()["access_token"]',
    'api_key=os.environ["OPENAI_API_KEY"]',
    "connect(user=u1, password=pw12345, db=x)",
    "connect(password=pw12345)",
    "sorted(items, key=lambda item: item.rank)",
    "primary_key=True",
    'cache_key = f"{user}:{page}1"',
    "token: Optional[str] = None",
    "password: string;",
    "if token == expected_token1:",
    'SECRET_KEY = config("SECRET_KEY")',
    "const token = await getToken1(user)",
    "import secrets; token = secrets.token_hex(16)",
    'token_url = "https://auth.example/oauth2/token"',
    'password_hash = "$2b$12$abcdefghijklmnopqrstuv"',
    'public_key = "ssh-rsa AAAAB3NzaC1yc2E"',
    "password=None, token=None",
    'foreign_key="users.id12345"',
    'api_key: str = Field(alias="apiKey1")',
    "const { password } = req.body",
    # Things that only look random.
    "commit 3f786850e387550fdab836ed7e6dc881de23001b fixes it",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "git@example.org:owner/repo.git",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "https://example.com:8080/path?email=a@b.example",
    "http://localhost:8080?user=a@b.example",
    "postgres://user:${PASSWORD}@host/db",
    "postgres://user:***@host/db",
    "Authorization: Bearer <token>",
    # Not a private tag.
    "if (a <private_count) return",
    "<private/> keep",
    "private: yes",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_passes_through_untouched(text: str) -> None:
    assert redact(text) == Redacted(text, ())


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a <private>b</private> c", "a [private] c"),
        ("a <PRIVATE>b</Private > c", "a [private] c"),
        ("a < private >b</ private> c", "a [private] c"),
        ('a <private reason="x y">b\nc</private> d', "a [private] d"),
        ("a <private>b <private>c</private> d</private> e", "a [private] e"),
        ("a <private>b", "a [private]"),
        ("a <private>b <private>c</private> d", "a [private]"),
        ("b</private> c", "[private] c"),
        ("<private>a</private> b</private> c", "[private][private] c"),
        ("<private>a</private><private>b</private>", "[private][private]"),
        ("<private></private>", "[private]"),
    ],
)
def test_what_is_marked_private_is_taken_out(text: str, left: str) -> None:
    assert redact(text).text == left
    assert set(redact(text).found) == {"private-tag"}


KEY_LINES = "\n".join([MIXED + MIXED[:28]] * 3 + [MIXED[:20] + "=="])


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
def test_a_private_key_is_taken_out_with_or_without_its_end(kind: str) -> None:
    begin, end = f"-----BEGIN {kind}PRIVATE KEY-----", f"-----END {kind}PRIVATE KEY-----"
    closed = redact(f"key:\n{begin}\n{KEY_LINES}\n{end}\nthat was it")
    assert closed == Redacted("key:\n[redacted:private-key]\nthat was it", ("private-key",))
    cut = redact(f"key:\n{begin}\n{KEY_LINES}\n\nThat was it.")
    assert cut == Redacted("key:\n[redacted:private-key]\n\nThat was it.", ("private-key",))


def test_a_key_in_a_json_string_is_taken_out() -> None:
    escaped = KEY_LINES.replace("\n", "\\n")
    text = f'{{"k": "-----BEGIN PRIVATE KEY-----\\n{escaped}\\n-----END PRIVATE KEY-----\\n"}}'
    assert json.loads(redact(text).text) == {"k": "[redacted:private-key]\n"}


def test_secrets_are_named_in_the_order_they_stand() -> None:
    text = f"PASSWORD=hunter2\n{'AKIA' + 'IOSFODNN7EXAMPLE'} and <private>x</private> and {JWT}"
    assert redact(text).found == ("password", "aws-access-key", "private-tag", "jwt")


def test_a_secret_under_a_name_is_called_by_its_own_shape() -> None:
    assert redact("GITHUB_TOKEN=ghp_" + MIXED).found == ("github-token",)


def test_nothing_of_a_value_is_left_behind_when_a_known_shape_ends_inside_it() -> None:
    redacted = redact("DB_PASSWORD=abc:ghp_" + MIXED + ":rest")
    assert "abc" not in redacted.text
    assert "rest" not in redacted.text


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        ((), ""),
        (("aws-access-key",), "redacted 1 secret (aws-access-key)"),
        (("github-token", "jwt"), "redacted 2 secrets (github-token, jwt)"),
        (("github-token", "jwt", "github-token"), "redacted 3 secrets (github-token x2, jwt)"),
    ],
)
def test_the_reader_is_told_what_was_taken_out(found: tuple[str, ...], sentence: str) -> None:
    assert describe(found) == sentence
    assert Redacted("", found).summary == sentence


PIECES = st.sampled_from(
    [
        *("password", "TOKEN", "api_key", "=", ": ", '"', "'", "\n", " ", ";", "&", "--", "hunter2", "abc123def456"),
        *("<private>", "</private>", "[private]", "://u:", "@h", "Bearer ", "Authorization: ", "ghp_" + MIXED, JWT),
        *("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", MIXED, "AKIA" + "IOSFODNN7EXAMPLE", "export "),
        *("{", "}", "\\", "\\n", "#", "x" * 12, "数据", "AccountKey=", "İ", ",", "."),
    ]
)


@given(st.lists(PIECES, max_size=14).map("".join) | st.text())
@example("password=abc123-<private>x</private>")
def test_a_redacted_text_holds_nothing_more_to_redact(text: str) -> None:
    once = redact(text)
    assert redact(once.text) == Redacted(once.text, ())


@given(st.lists(PIECES, max_size=14).map("".join))
def test_a_text_is_changed_exactly_when_something_is_reported(text: str) -> None:
    redacted = redact(text)
    assert (redacted.text != text) == bool(redacted.found)


@pytest.mark.parametrize("name_and_secret", SHAPED_CASES)
@given(before=st.text(max_size=30), after=st.text(max_size=30))
def test_a_secret_between_blanks_never_survives(name_and_secret: tuple[str, str], before: str, after: str) -> None:
    _, secret = name_and_secret
    assert secret not in redact(f"{before} {secret} {after}").text


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "a",
            "token",
            "token=",
            "TOKEN=a1b2c3d4 ",
            "token=a;!",
            "eyJ",
            "eyJaaaaaaaaaaaa.",
            "://a:",
            "://a:b@",
            ":@",
            "key_",
        ),
        *(
            "-----BEGIN PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\n",
            "Abc: x\n",
            "<private",
            "<private>",
            "</private>",
        ),
        *(
            "< ",
            "sk-",
            "authorization: ",
            "bearer ",
            "password: '",
            'password="',
            "AccountKey=",
            "SG.",
            "xoxa.",
            "Q~",
            "\n",
        ),
        *("password=\\", "pass\\n", "-----BEGIN PRIVATE KEY-----" + "\\n" * 20, "[redacted:", "İtoken=abc1234567890 "),
    ],
)
def test_hostile_text_is_read_in_linear_time(unit: str) -> None:
    # Anything quadratic would take minutes over this many characters.
    redact(unit * (200_000 // len(unit)))
    redact("-----BEGIN PRIVATE KEY-----" + "A" * 100_000 + unit * (100_000 // len(unit)))


def test_a_json_document_stays_valid_and_keeps_its_shape() -> None:
    document = {
        "name": "svc",
        "database": {"url": "postgres://u:hunter2@h/d", "password": 'let"me\\in1', "port": 5432, "ssl": True},
        "steps": ["deploy with ghp_" + MIXED, None, 1.5, ["<private>x"]],
        "token": "budget",
        "max_tokens": "2000",
    }
    cleaned, found = redact_json(document)
    assert cleaned == {
        "name": "svc",
        "database": {
            "url": "postgres://u:[redacted:url-password]@h/d",
            "password": "[redacted:password]",
            "port": 5432,
            "ssl": True,
        },
        "steps": ["deploy with [redacted:github-token]", None, 1.5, ["[private]"]],
        "token": "budget",
        "max_tokens": "2000",
    }
    assert found == ("url-password", "password", "github-token", "private-tag")
    assert document["token"] == "budget"


def test_secrets_among_the_keys_of_a_json_object_lose_no_value() -> None:
    cleaned, found = redact_json({"ghp_" + MIXED: 1, "gho_" + MIXED: 2})
    assert isinstance(cleaned, dict)
    assert sorted(cleaned.values()) == [1, 2]
    assert found == ("github-token", "github-token")


def test_a_deeply_nested_document_is_redacted_to_its_bottom() -> None:
    document: object = "PASSWORD=hunter2"
    for _ in range(5_000):
        document = [document]
    cleaned, found = redact_json(document)
    assert found == ("password",)
    while isinstance(cleaned, list):
        (cleaned,) = cleaned
    assert cleaned == "PASSWORD=[redacted:password]"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda held: st.lists(held, max_size=3) | st.dictionaries(st.text() | st.just("password"), held, max_size=3),
    max_leaves=10,
)


@given(JSON)
def test_any_json_document_can_be_written_again(document: object) -> None:
    cleaned, found = redact_json(document)
    assert json.loads(json.dumps(cleaned)) == cleaned
    assert redact_json(cleaned) == (cleaned, ())
    assert found or cleaned == document


@pytest.mark.parametrize(
    ("sentence", "kept"),
    [
        (
            "ci uses aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY for uploads",
            "[redacted:aws-secret-key]",
        ),
        ("text password = k1xQ8zzLp2 end", "[redacted:password]"),
        ("the token: 3f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a end", "[redacted:token]"),
    ],
)
def test_a_named_secret_inside_a_sentence_is_taken_out(sentence: str, kept: str) -> None:
    first, *_, last = sentence.split()
    redacted = redact(sentence).text
    assert kept in redacted and redacted.startswith(first) and redacted.endswith(last)


@pytest.mark.parametrize(
    "sentence",
    [
        "connect(password=pw1, user=x)",
        "max token: 4096 for the model",
        "our api key: rotate it in 2026-11-18",
        "set token = response.json2 and go on",
        "primary key: user_id_2024_partition_a here",
    ],
)
def test_a_sentence_about_secrets_stays_as_it_is(sentence: str) -> None:
    assert redact(sentence).text == sentence


def test_redaction_goes_on_until_nothing_is_found() -> None:
    assert "hunter2x9" not in redact("token: </private>password=hunter2x9 abc").text


def test_letters_that_grow_in_lower_case_do_not_hide_a_secret_behind_them() -> None:
    assert "hunter2x9" not in redact("İİİİİİİİ\npassword=hunter2x9\n").text


@pytest.mark.parametrize(
    ("sentence", "secret"),
    [
        ("İ DB_PASSWORD=Abc12345xyz", "Abc12345xyz"),
        ("İ\nAPI_KEY=abcd1234efgh5678", "abcd1234efgh5678"),
        ("my password: abc123 works", "abc123"),
        ("we set password = abc12345 then", "abc12345"),
        ("the token: abcdefgh12345678 was", "abcdefgh12345678"),
    ],
)
def test_a_value_in_a_sentence_is_a_secret_from_a_length_on(sentence: str, secret: str) -> None:
    assert secret not in redact(sentence).text


@pytest.mark.parametrize(
    "sentence", ["my password: ab123 works", "we set password = abc1234 then", "the token: abcdefgh1234567 was"]
)
def test_a_shorter_value_in_a_sentence_stays(sentence: str) -> None:
    assert redact(sentence) == Redacted(sentence, ())
