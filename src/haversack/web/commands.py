"""The commands of this door: `serve --http`, `web` and `token`."""

import os
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from haversack import terminal
from haversack.argument_parser import plain_parser
from haversack.errors import InvalidArgument
from haversack.web.credentials import SCOPES, Credentials, Token, parse_age

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from haversack.web.server import Listening


def add_options(parser: "ArgumentParser") -> None:
    """The options of a command that listens."""
    parser.add_argument("--allowed-host", action="append", default=[], metavar="NAME", help="also answer to this host")
    parser.add_argument("--tls-cert", default="", metavar="FILE", help="serve over TLS with this certificate")
    parser.add_argument("--tls-key", default="", metavar="FILE", help="its key")
    parser.add_argument("--behind-tls", action="store_true", help="a proxy in front speaks TLS")


def serve_http(address: str, parsed: Namespace, names: Sequence[str]) -> int:
    """Serve MCP and the JSON interface on a port until a signal comes."""
    return _serve(address, parsed, names, signs_in=False, opens=False)


def web(typed: list[str]) -> int:
    """Serve the page, and print the address that signs in."""
    parser = plain_parser(
        "web",
        "Serve the page, MCP and the JSON interface on a port, and print an address that signs the browser in.",
        "haversack web",
        "haversack web --open",
        "haversack web --http 0",
    )
    parser.add_argument("--http", default="", metavar="[HOST:]PORT", help="where to listen (127.0.0.1:7420)")
    parser.add_argument("--open", action="store_true", help="open the browser")
    parser.add_argument("--tools", default="", help="sets (memory, workspace, sdd, budget, all) or names, with commas")
    parser.add_argument("--log-file", default="", metavar="FILE", help="also keep a log here; it is rotated")
    add_options(parser)
    parsed = parser.parse_args(typed)
    names = [name.strip() for name in parsed.tools.split(",") if name.strip()]
    return _serve(parsed.http, parsed, names, signs_in=True, opens=parsed.open)


def _serve(address: str, parsed: Namespace, names: Sequence[str], *, signs_in: bool, opens: bool) -> int:
    from haversack.app import App
    from haversack.config import load
    from haversack.web.identity import Identity
    from haversack.web.server import HttpServer

    config = load()
    listening = _listening(address, parsed)
    token_file = Credentials(config.home).first()
    app = App(config, embeds=True)
    _check_exposure(listening, config.http.allowed_hosts)
    server = HttpServer(app, listening, names, parsed.log_file)

    def started() -> None:
        terminal.say(f"haversack: serving {server.public_url} (MCP at /mcp); the first token is in {token_file}")
        if not signs_in:
            return
        code = server.door.sign_in.code(Identity(id="page", name="page", scope="admin"))
        url = f"{server.public_url}/#k={code}"
        terminal.show(url)
        if opens:
            import webbrowser

            webbrowser.open(url)

    if server.run(started):
        app.close()
    return 0


def _listening(address: str, parsed: Namespace) -> "Listening":
    from haversack.web.server import DEFAULT_ADDRESS, DEFAULT_PORT, Listening, parse_address

    host, port = parse_address(address) if address else (DEFAULT_ADDRESS, DEFAULT_PORT)
    if bool(parsed.tls_cert) != bool(parsed.tls_key):
        raise InvalidArgument("--tls-cert and --tls-key belong together", hint="give both")
    return Listening(host, port, tuple(parsed.allowed_host), parsed.tls_cert, parsed.tls_key, parsed.behind_tls)


def _check_exposure(listening: "Listening", configured_hosts: Sequence[str]) -> None:
    """Refuse to listen on a public address without a host name and encryption."""
    if listening.is_loopback:
        return
    missing = []
    if not listening.allowed_hosts and not configured_hosts:
        missing.append("--allowed-host NAME (the name clients use)")
    if not listening.certificate and not listening.behind_tls:
        missing.append("--tls-cert FILE --tls-key FILE, or --behind-tls where a proxy speaks TLS")
    if missing:
        raise InvalidArgument(
            f"{listening.address} is not loopback, and something is missing", hint="add " + "; and ".join(missing)
        )


def token(typed: list[str]) -> int:
    """Make, list and revoke the tokens of the HTTP door."""
    parser = plain_parser(
        "token",
        "Make, list and revoke the tokens of the HTTP door.",
        "haversack token add laptop --scope write",
        "haversack token add ci --scope read --project thesis --expires 90d",
        "haversack token add alice --scope write --member alice",
        "haversack token list",
        "haversack token revoke laptop",
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="add|list|revoke")
    adding = actions.add_parser("add", help="make a token, and print it once")
    adding.add_argument("name")
    adding.add_argument("--scope", choices=SCOPES, default="read")
    adding.add_argument("--project", default="", help="sees only this project")
    adding.add_argument("--namespace", default=None, help="sees only this namespace")
    adding.add_argument("--member", default="", help="speaks for this member of a team's store")
    adding.add_argument("--expires", default="", metavar="AGE", help="90d, 12h; never when omitted")
    actions.add_parser("list", help="the tokens, without their secrets")
    revoking = actions.add_parser("revoke", help="refuse a token from now on")
    revoking.add_argument("name", help="its name or id")
    parsed = parser.parse_args(typed)
    from haversack.config import default_home

    held = Credentials(default_home(os.environ))
    if parsed.action == "add":
        seconds = parse_age(parsed.expires) if parsed.expires else 0
        if parsed.member:
            _check_member(parsed.member)
        made, text = held.add(
            parsed.name, parsed.scope, project=parsed.project, namespace=parsed.namespace, member=parsed.member,
            seconds=seconds,
        )  # fmt: skip
        terminal.show(text)
        terminal.say(f"haversack: token {made.name} ({made.scope}); it is shown this once")
    elif parsed.action == "revoke":
        gone = held.revoke(parsed.name)
        terminal.show(f"revoked {gone.name} ({gone.id})")
    else:
        _list(held.all())
    return 0


def _check_member(subject: str) -> None:
    """Refuse a token for a subject that is not a member of the store."""
    from haversack.config import load

    store = load().store
    if not store.url:
        raise InvalidArgument(
            "--member is for a team's store, and store.url is not set",
            hint="leave it out: a file has no members; --project and --namespace limit what a token sees",
        )
    from haversack.store.postgres import open_store

    opened = open_store(store.url, member=subject)
    try:
        with opened.read():
            pass
    finally:
        opened.close()


def _list(tokens: Sequence[Token]) -> None:
    from haversack.text.times import minute

    if not tokens:
        terminal.show("No token yet. `haversack token add NAME` makes one.")
        return
    for each in tokens:
        limits = [f"project {each.project}"] if each.project else []
        limits += [f"namespace {each.namespace}"] if each.namespace is not None else []
        limits += [f"member {each.member}"] if each.member else []
        limits += [f"expires {minute(each.expires * 1_000_000)}"] if each.expires else []
        limits.append(f"last used {minute(each.used * 1_000_000)}" if each.used else "never used")
        terminal.show(f"{each.id}  {each.name}  {each.scope}  {', '.join(limits)}")
