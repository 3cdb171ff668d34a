"""Connecting hosts: entries are added without touching anything else, and taken back byte for byte."""

import json
import os
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.hosts.host import expanded, host_named, known_hosts
from haversack.hosts.installation import json_edits, toml_edits

HOSTS = sorted(host.name for host in known_hosts().values() if not host.plugin)
"""Hosts whose files are edited here; the others' own programs install a plugin."""

JSONC = """// my settings
{
    "theme": "dark", // at night
    /* servers I use */
    "mcpServers": {
        "other": {"command": "other"}
    },
    "hooks": {
        "SessionStart": [
            {"hooks": [{"type": "command", "command": "echo mine"}]}
        ]
    }
}
"""
TOML = """# my settings
model = "x"  # fast

[mcp_servers.other]
command = "other"  # keep me
args = []
"""


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """The home folder of a user who has every host."""
    home = tmp_path / "user"
    for host in known_hosts().values():
        folder = Path(expanded(host, "{folder}", environment(home)))
        folder.mkdir(parents=True)
    return home


def environment(user: Path, **more: str) -> dict[str, str]:
    left_out = ("HAVERSACK_HOME", "XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return {**kept, "HOME": str(user), "XDG_DATA_HOME": str(user / "data"), "PATH": "/nowhere", **more}


def run(user: Path, *typed: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "haversack", *typed], capture_output=True, text=True, env=environment(user, **more),
        stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip


def files(user: Path) -> dict[str, bytes]:
    """Every file of the user's that is not the program's own."""
    found = (path for path in user.rglob("*") if path.is_file() and not path.is_relative_to(user / "data"))
    return {str(path.relative_to(user)): path.read_bytes() for path in sorted(found)}


def seed(user: Path, host: str) -> None:
    """Settings of the user's own, with comments, in every file the host has."""
    facts = host_named(host)
    for part in (facts.server, facts.hooks):
        if part is None or getattr(part, "is_own", False):
            continue
        path = Path(expanded(facts, part.file, environment(user)))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(TOML if path.suffix == ".toml" else JSONC)


@pytest.mark.parametrize("seeded", [True, False])
@pytest.mark.parametrize("host", HOSTS)
def test_a_host_is_connected_once_and_disconnected_byte_for_byte(host: str, seeded: bool, user: Path) -> None:
    if seeded:
        seed(user, host)
    before = files(user)
    first = run(user, "install", host)
    assert first.returncode == 0, first.stderr
    connected = files(user)
    assert connected != before
    held = b"".join(connected.values())
    assert b"haversack" in held and (not seeded or b"keep me" in held or b"at night" in held)
    again = run(user, "install", host)
    assert "nothing to change" in again.stdout and files(user) == connected
    assert run(user, "uninstall", host).returncode == 0
    assert files(user) == before


@pytest.mark.parametrize("host", HOSTS)
def test_what_the_user_adds_afterwards_stays_when_ours_is_taken_back(host: str, user: Path) -> None:
    seed(user, host)
    run(user, "install", host)
    facts = host_named(host)
    assert facts.server is not None
    path = Path(expanded(facts, facts.server.file, environment(user)))
    text = path.read_text()
    path.write_text(
        text + '\n[later]\nmine = true\n' if path.suffix == ".toml" else text.replace('"dark"', '"light"')
    )  # fmt: skip
    assert run(user, "uninstall", host).returncode == 0
    left = path.read_text()
    assert "haversack" not in left and ("mine = true" in left or '"light"' in left)
    if path.suffix == ".toml":
        assert left == TOML + "\n[later]\nmine = true\n"
    else:
        assert left == JSONC.replace('"dark"', '"light"')


def test_a_file_made_for_us_that_the_host_has_added_to_keeps_only_that(user: Path) -> None:
    run(user, "install", "opencode")
    path = user / ".config" / "opencode" / "opencode.jsonc"
    path.write_text(json.dumps({"$schema": "s", **json.loads(path.read_text())}, indent=2))
    assert run(user, "uninstall", "opencode").returncode == 0
    assert json.loads(path.read_text()) == {"$schema": "s"}
    run(user, "install", "cursor")
    hooks = user / ".cursor" / "hooks.json"
    hooks.write_text(hooks.read_text().replace("  ", "    "))
    assert run(user, "uninstall", "cursor").returncode == 0
    assert not hooks.exists()


def test_what_an_older_version_wrote_is_known_by_its_command(user: Path) -> None:
    path = user / ".gemini" / "settings.json"
    old = {"hooks": {"PreCompress": [{"hooks": [{"type": "command", "command": "haversack hook x --client gemini"}]}]}}
    path.write_text(json.dumps(old))
    assert run(user, "uninstall", "gemini").returncode == 0
    assert "haversack" not in path.read_text()


def test_a_dry_run_shows_the_diff_and_writes_nothing(user: Path) -> None:
    seed(user, "codex")
    before = files(user)
    shown = run(user, "install", "codex", "--dry-run")
    assert "+[mcp_servers.haversack]" in shown.stdout and "+++ " in shown.stdout
    assert files(user) == before and not (user / "data").exists()


@pytest.mark.parametrize(("host", "file"), [("codex", ".codex/config.toml"), ("gemini", ".gemini/settings.json")])
def test_a_broken_settings_file_is_refused_untouched(host: str, file: str, user: Path) -> None:
    path = user / file
    path.write_text('{"mcpServers": [= broken')
    refused = run(user, "install", host)
    assert refused.returncode == 1 and "cannot be understood" in refused.stderr and "not changed" in refused.stderr
    assert path.read_text() == '{"mcpServers": [= broken'


def test_a_host_that_is_unknown_or_absent_gets_a_clear_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    unknown = run(tmp_path / "empty", "install", "emacs")
    assert unknown.returncode == 1 and "no host called 'emacs'" in unknown.stderr and "claude-code" in unknown.stderr
    absent = run(tmp_path / "empty", "install", "codex")
    assert absent.returncode == 1 and "Codex was not found on this machine" in absent.stderr
    none = run(tmp_path / "empty", "install", "--all")
    assert none.returncode == 1 and "no host was found" in none.stderr
    silent = run(tmp_path / "empty", "doctor", "hosts")
    assert silent.returncode == 1 and "no host was found" in silent.stderr


def test_without_a_terminal_the_hosts_found_are_named_and_none_is_touched(user: Path) -> None:
    before = files(user)
    asked = run(user, "install")
    assert asked.returncode == 1 and "codex" in asked.stderr and "--all" in asked.stderr and files(user) == before


def test_a_home_that_cannot_be_written_is_a_clear_error(user: Path) -> None:
    if os.geteuid() == 0:
        # Nothing is closed to root; a file in the folder's place is.
        (user / ".cursor").rmdir()
        (user / ".cursor").write_text("")
        (user / "data").mkdir()
        refused = run(user, "install", "cursor", PATH=str(user))
        assert refused.returncode == 1 and "Traceback" not in refused.stderr
        return
    (user / ".cursor").chmod(0o500)
    refused = run(user, "install", "cursor")
    (user / ".cursor").chmod(0o700)
    assert refused.returncode == 1 and "cannot be written" in refused.stderr


def test_entries_carry_the_home_and_the_absolute_path(user: Path, tmp_path: Path) -> None:
    home = str(tmp_path / "elsewhere")
    run(user, "install", "codex", HAVERSACK_HOME=home)
    entry = tomllib.loads((user / ".codex" / "config.toml").read_text())["mcp_servers"]["haversack"]
    assert os.path.isabs(entry["command"]) and entry["env"] == {"HAVERSACK_HOME": home}
    hooks = json.loads((user / ".codex" / "hooks.json").read_text())["hooks"]
    command = hooks["SessionStart"][0]["hooks"][0]["command"]
    assert "hook session-start --client codex" in command and f"--home {home}" in command


def test_the_installed_hook_command_and_server_entry_work_as_written(user: Path) -> None:
    run(user, "install", "cursor")
    entry = json.loads((user / ".cursor" / "mcp.json").read_text())["mcpServers"]["haversack"]
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}  # fmt: skip
    served = subprocess.run(
        [entry["command"], *entry["args"]], input=json.dumps(hello) + "\n", capture_output=True, text=True,
        env=environment(user), check=False,
    )  # fmt: skip
    assert json.loads(served.stdout.splitlines()[0])["result"]["serverInfo"]["name"] == "haversack"
    command = json.loads((user / ".cursor" / "hooks.json").read_text())["hooks"]["beforeSubmitPrompt"][0]["command"]
    sent = json.dumps({"conversation_id": "c", "workspace_roots": [str(user)], "prompt": "Count the sheep"})
    ran = subprocess.run(command, shell=True, input=sent, text=True, env=environment(user), check=False)  # noqa: S602
    assert ran.returncode == 0
    assert (
        "Count the sheep"
        in run(user, "sessions", "--project", "all").stdout + run(user, "context", "--project", "all").stdout
    )


def test_where_the_user_must_act_the_command_says_what_to_type(user: Path) -> None:
    assert "/hooks" in run(user, "install", "codex").stdout


def test_a_plugin_folder_holds_server_and_hooks(user: Path, tmp_path: Path) -> None:
    from haversack.hosts.installation.plugin import write_plugin
    from haversack.hosts.installation.settings_text import Program

    folder = Path(write_plugin(str(tmp_path), host_named("claude"), Program(("/bin/haversack",))))
    plugin = folder / "plugins" / "haversack"
    hooks = json.loads((plugin / "hooks" / "hooks.json").read_text())["hooks"]
    assert hooks["UserPromptSubmit"][0]["hooks"][0]["command"] == "/bin/haversack hook prompt --client claude-code"
    assert json.loads((plugin / ".mcp.json").read_text())["mcpServers"]["haversack"]["args"] == ["serve"]
    assert json.loads((folder / ".claude-plugin" / "marketplace.json").read_text())["plugins"][0]["name"] == "haversack"


@pytest.mark.parametrize("host", HOSTS)
def test_the_gateway_goes_before_a_server_and_away_byte_for_byte(host: str, user: Path) -> None:
    facts = host_named(host)
    assert facts.server is not None
    path = Path(expanded(facts, facts.server.file, environment(user)))
    path.parent.mkdir(parents=True, exist_ok=True)
    servers = ".".join(facts.server.keys[:-1])
    if path.suffix == ".toml":
        more = f'args = [ # two\n  "-y", "it",\n]\n[{servers}.other.env]\nKEY = "v"\n'
        before = TOML.replace('command = "other"  # keep me\n', f'command = "other"  # keep me\n{more}')
    elif facts.server.style == "list":
        before = '{"mcp": {"other": {"type": "local", "command": ["other", "-y", "it"]}}} // mine\n'
    else:
        before = (
            f'{{"{servers}": {{"other": {{"command": "other", /* two */ "args": ["-y", "it"], "env": {{"A": "b"}}}}}}}}'
        )
    path.write_text(before)
    foretold = run(user, "install", host, "--wrap", "other", "--dry-run")
    assert "wrap" in foretold.stdout and path.read_text() == before
    assert run(user, "install", host, "--wrap", "other").returncode == 0
    text = path.read_text()
    held = tomllib.loads(text) if path.suffix == ".toml" else json_edits.loaded(json_edits.parsed(text))
    entry = held[servers]["other"]
    words = entry["command"] if isinstance(entry["command"], list) else [entry["command"], *entry["args"]]
    assert words[-5:] == ["wrap", "--", "other", "-y", "it"] and "haversack" in words[-6]
    assert "nothing to change" in run(user, "install", host, "--wrap", "other").stdout
    path.write_text(text + ("\n# mine\n" if path.suffix == ".toml" else "\n"))
    assert run(user, "uninstall", host).returncode == 0
    left = path.read_text()
    again = tomllib.loads(left) if path.suffix == ".toml" else json_edits.loaded(json_edits.parsed(left))
    original = tomllib.loads(before) if path.suffix == ".toml" else json_edits.loaded(json_edits.parsed(before))
    assert again == original
    path.write_text(before)
    run(user, "install", host)
    run(user, "install", host, "--wrap", "other")
    assert run(user, "uninstall", host).returncode == 0
    assert path.read_text() == before


def test_a_wrapped_server_uses_the_store_of_whoever_installed_it(user: Path, tmp_path: Path) -> None:
    path, home = user / ".codex" / "config.toml", str(tmp_path / "elsewhere")
    before = f'[mcp_servers.other]\ncommand = {json.dumps(sys.executable)}\nargs = ["-c", "print()"]\n'
    path.write_text(before)
    assert run(user, "install", "codex", "--wrap", "other", HAVERSACK_HOME=home).returncode == 0
    entry = tomllib.loads(path.read_text())["mcp_servers"]["other"]
    assert entry["args"][-7:] == ["wrap", "--home", home, "--", sys.executable, "-c", "print()"]
    typed = [entry["command"], *entry["args"]]
    subprocess.run(typed, env=environment(user), stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert "nothing to change" in run(user, "install", "codex", "--wrap", "other", HAVERSACK_HOME=home).stdout
    path.write_text(path.read_text() + "# mine\n")
    assert run(user, "uninstall", "codex", HAVERSACK_HOME=home).returncode == 0
    assert tomllib.loads(path.read_text()) == tomllib.loads(before)


@pytest.mark.parametrize("kind", ["mark", "lines", "link", "narrow", "wide", "one line", "trailing comma", "no end"])
def test_settings_of_any_look_come_back_byte_for_byte(kind: str, user: Path, tmp_path: Path) -> None:
    path = user / ".gemini" / "settings.json"
    text = {
        "mark": "\ufeff" + JSONC, "lines": JSONC.replace("\n", "\r\n"), "link": JSONC, "no end": JSONC.rstrip("\n"),
        "narrow": JSONC.replace("    ", " "), "wide": JSONC.replace("    ", "\t"),
        "one line": '{"theme":"dark","mcpServers":{},"hooks":{"AfterTool":[]}}',
        "trailing comma": '{\n  "theme": "dark",\n  "hooks": {\n    "AfterTool": [ /* none */ ],\n  },\n}\n',
    }[kind]  # fmt: skip
    before = text.encode()
    real = path
    if kind == "link":
        real = tmp_path / "dotfiles" / "gemini.json"
        real.parent.mkdir()
        path.symlink_to(real)
    real.write_bytes(before)
    assert run(user, "install", "gemini").returncode == 0
    held = json_edits.loaded(json_edits.parsed(path.read_bytes().decode()))
    assert held["theme"] == "dark" and "haversack" in held["mcpServers"] and len(held["hooks"]) == 5
    if kind == "lines":
        assert b"\n" not in path.read_bytes().replace(b"\r\n", b"")
    assert "nothing to change" in run(user, "install", "gemini").stdout
    assert run(user, "uninstall", "gemini").returncode == 0
    assert real.read_bytes() == before and path.is_symlink() == (kind == "link")
    run(user, "install", "gemini")
    real.write_bytes(real.read_bytes().replace(b"dark", b"light"))
    assert run(user, "uninstall", "gemini").returncode == 0
    assert real.read_bytes() == before.replace(b"dark", b"light"), "what was edited in between stays, and nothing else"


def test_installs_at_the_same_moment_leave_one_entry_each_and_can_be_taken_back(user: Path) -> None:
    path = user / ".gemini" / "settings.json"
    path.write_text(JSONC)
    before = files(user)
    with ThreadPoolExecutor() as pool:
        done = list(pool.map(lambda host: run(user, "install", host), ["gemini", "codex", "gemini", "cursor"]))
    assert [each.returncode for each in done] == [0, 0, 0, 0], [each.stderr for each in done]
    assert all("nothing to change" in run(user, "install", host).stdout for host in ("gemini", "codex", "cursor"))
    assert run(user, "uninstall").returncode == 0
    assert files(user) == before


def test_a_server_that_cannot_be_wrapped_gets_a_clear_sentence(user: Path) -> None:
    path = user / ".gemini" / "settings.json"
    path.write_text('{"mcpServers": {"far": {"httpUrl": "https://example.org/mcp"}, "near": {"command": "near"}}}')
    before = path.read_text()
    assert "has no server 'nowhere'" in run(user, "install", "gemini", "--wrap", "nowhere").stderr
    assert "far is not started by a command" in run(user, "install", "gemini", "--wrap", "far").stderr
    assert "--wrap is about one host" in run(user, "install", "--wrap", "near").stderr
    assert path.read_text() == before


def test_the_doctor_says_of_a_host_whether_what_was_written_works(user: Path) -> None:
    assert "Gemini CLI: not connected" in run(user, "doctor", "hosts", "gemini").stdout
    run(user, "install", "gemini")
    well = run(user, "doctor", "hosts", "gemini")
    assert well.returncode == 0 and "BAD" not in well.stdout
    assert "Gemini CLI server: it answers (haversack)" in well.stdout
    assert "Gemini CLI hooks: 5 of 5 are there" in well.stdout
    assert "no hook has run yet" in well.stdout
    sent = {"session_id": "d", "cwd": str(user), "prompt": "Count the sheep"}
    subprocess.run(
        [sys.executable, "-m", "haversack", "hook", "prompt", "--client", "gemini"], input=json.dumps(sent), text=True,
        env=environment(user), check=True,
    )  # fmt: skip
    assert "last hook: it ran at 20" in run(user, "doctor", "hosts", "gemini").stdout
    path = user / ".gemini" / "settings.json"
    path.write_text(path.read_text().replace("AfterTool", "Elsewhere").replace('"serve"', '"serve", "--nonsense"'))
    bad = run(user, "doctor", "hosts", "gemini")
    assert bad.returncode == 1 and "does not answer" in bad.stdout and "haversack install gemini" in bad.stdout


def test_the_doctor_sees_a_command_that_is_gone_another_store_and_missing_trust(user: Path, tmp_path: Path) -> None:
    run(user, "install", "codex", HAVERSACK_HOME=str(tmp_path / "one"))
    path = user / ".codex" / "config.toml"
    told = run(user, "doctor", "hosts", "codex", HAVERSACK_HOME=str(tmp_path / "one")).stdout
    assert "BAD  Codex trust: 0 of 8 hooks are trusted" in told and "/hooks" in told and "server: it answers" in told
    elsewhere = run(user, "doctor", "hosts", "codex", HAVERSACK_HOME=str(tmp_path / "two"))
    assert elsewhere.returncode == 1 and f"uses the store in {tmp_path / 'one'}" in elsewhere.stdout
    text = path.read_text()
    command = tomllib.loads(text)["mcp_servers"]["haversack"]["command"]
    path.write_text(text.replace(command, "/nowhere/haversack"))
    gone = run(user, "doctor", "hosts", "codex", HAVERSACK_HOME=str(tmp_path / "one"))
    assert gone.returncode == 1 and "/nowhere/haversack, which is not there" in gone.stdout
    path.write_text("[= broken")
    assert "cannot be understood" in run(user, "doctor", "hosts", "codex").stdout


def test_the_doctor_of_everything_examines_the_hosts_too(user: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "hosts: none is on this machine" in run(tmp_path / "empty", "doctor").stdout
    run(user, "install", "gemini")
    well = run(user, "doctor")
    assert well.returncode == 0 and "ok   SQLite" in well.stdout and "ok   Gemini CLI server: it answers" in well.stdout
    assert "ok   Codex: not connected\n     `haversack install codex` connects it" in well.stdout
    path = user / ".gemini" / "settings.json"
    path.write_text(path.read_text().replace("AfterTool", "Elsewhere"))
    (user / ".cursor" / "hooks.json").write_text("{broken")
    bad = run(user, "doctor", "--json")
    checks = {each["what"]: each for each in json.loads(bad.stdout)["checks"]}
    assert bad.returncode == 1 and not json.loads(bad.stdout)["well"]
    assert checks["Gemini CLI hooks"] == {
        "what": "Gemini CLI hooks", "well": False, "seen": "4 of 5 are there", "remedy": "run `haversack install gemini`"
    }  # fmt: skip
    assert "cannot be understood" in checks["Cursor settings"]["seen"]
    alone = run(user, "doctor", "hosts", "gemini", "--json")
    assert [each["what"] for each in json.loads(alone.stdout)["checks"]][2] == "Gemini CLI hooks"
    assert alone.returncode == 1


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@given(
    st.dictionaries(st.text(max_size=5), JSON_VALUES, max_size=4), st.sampled_from([None, 1, 2, "\t"]), st.booleans()
)
def test_a_value_put_into_any_object_is_there_and_leaves_with_its_bytes(
    held: dict[str, Any], indent: int | str | None, named: bool
) -> None:
    held = {key: value for key, value in held.items() if key != "mcp"} | ({"mcp": {"other": 1}} if named else {})
    text = json.dumps(held, indent=indent, ensure_ascii=False)
    new, made = json_edits.with_value(text, ("mcp", "haversack"), {"command": "x", "args": ["serve"]})
    expected = {**held, "mcp": {**held.get("mcp", {}), "haversack": {"command": "x", "args": ["serve"]}}}
    assert json_edits.loaded(json_edits.parsed(new)) == expected
    back = json_edits.without(new, ("mcp", "haversack"))
    back = json_edits.without(back, made) if made == ("mcp",) else back
    assert json_edits.loaded(json_edits.parsed(back)) == held


@given(JSON_VALUES)
def test_json_is_read_as_json(value: Any) -> None:
    for indent in (None, 2):
        assert json_edits.loaded(json_edits.parsed(json.dumps(value, indent=indent))) == value


@pytest.mark.parametrize("text", ["", "# only a comment\n", TOML, TOML.replace("\n", "\r\n"), "a = 1"])
def test_a_toml_table_comes_and_goes_without_a_trace(text: str) -> None:
    keys = ("mcp_servers", "haversack")
    new = toml_edits.with_table(text, keys, {"command": "x", "args": ["serve"], "env": {"A": "b \\ c"}})
    assert tomllib.loads(new)["mcp_servers"]["haversack"] == {"command": "x", "args": ["serve"], "env": {"A": "b \\ c"}}
    assert tomllib.loads(toml_edits.without_table(new, keys)) == tomllib.loads(text)
