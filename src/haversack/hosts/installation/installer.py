"""Connecting hosts: editing their settings files, and restoring them byte for byte."""

import difflib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence

from haversack.errors import HaversackError, InvalidArgument, NotFound, StoreReadOnly, ToolFailed
from haversack.hosts.host import Host, expanded, known_hosts
from haversack.hosts.installation import settings_text, wrapping
from haversack.hosts.installation.journal import Entry, Journal, digest, write_whole
from haversack.hosts.installation.plugin import write_plugin
from haversack.hosts.installation.settings_text import Change, Program
from haversack.values import record

_SECONDS = 60


@record
class Edit:
    """One file as it is and as it should be; `after` of None removes it."""

    file: str
    before: bytes | None
    after: bytes | None
    paths: tuple[str, ...] = ()
    made: tuple[str, ...] = ()

    def diff(self) -> str:
        """The change as a unified diff."""
        texts = [
            (held or b"").decode("utf-8", "replace").splitlines(keepends=True) for held in (self.before, self.after)
        ]
        names = (
            self.file if self.before is not None else "/dev/null",
            self.file if self.after is not None else "/dev/null",
        )
        lines = difflib.unified_diff(texts[0], texts[1], *names)
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


class Installer:
    """The hosts of one machine, as one user sees them."""

    def __init__(self, home: str, environ: Mapping[str, str] | None = None) -> None:
        self.home = home
        self.environ = os.environ if environ is None else environ
        self.journal = Journal(home)
        self.program = Program(_program_words(), home if self.environ.get("HAVERSACK_HOME") else "")

    def present(self) -> list[Host]:
        """The hosts on this machine; it is an error when there is none."""
        found = [host for host in known_hosts().values() if self.is_present(host)]
        if not found:
            raise InvalidArgument("no host was found on this machine", hint=f"known: {', '.join(known_hosts())}")
        return found

    def is_present(self, host: Host) -> bool:
        """Whether a host seems to be on this machine: its program on the path, or its folder in the home."""
        path = self.environ.get("PATH", os.defpath)
        if any(shutil.which(program, path=path) for program in host.programs):
            return True
        return host.plugin is None and os.path.isdir(expanded(host, "{folder}", self.environ))

    def plan(self, host: Host) -> list[Edit]:
        """The edits that connect a host; none when it is connected already."""
        texts: dict[str, Change] = {}
        if host.server:
            path = expanded(host, host.server.file, self.environ)
            texts[path] = settings_text.with_server(_text(path), host.server, self.program, path)
        if host.hooks:
            path = expanded(host, host.hooks.file, self.environ)
            held = texts.get(path, Change(_text(path)))
            found = settings_text.with_hooks(held.text, host.hooks, self.program, host.name, path)
            texts[path] = Change(found.text, (*held.paths, *found.paths), (*held.made, *found.made))
        if host.script:
            from importlib import import_module

            path = expanded(host, host.script, self.environ)
            script: str = import_module(f"haversack.hosts.known.{host.name.replace('-', '_')}").SCRIPT
            texts[path] = Change(script.replace("{command}", json.dumps(self.program.words[0])), ("the whole file",))
        edits = []
        for path, change in texts.items():
            before = _bytes(path)
            after = change.text.encode()
            if before != after:
                edits.append(Edit(path, before, after, change.paths, change.made))
        return edits

    def install(self, host: Host) -> list[Edit]:
        """Connect a host and return what was changed."""
        edits = self.plan(host)
        for edit in edits:
            self._write(host, edit)
        if host.plugin and not self._has_plugin(host):
            edits += self._add_plugin(host)
        return edits

    def plan_wrapping(self, host: Host, names: Sequence[str]) -> list[Edit]:
        """The edit that puts the gateway before servers a host has; none when they have it already."""
        server = host.server or host.project_servers
        if server is None:
            raise InvalidArgument(f"the servers of {host.title} cannot be edited")
        path = self._servers_file(host)
        before = _bytes(path)
        if before is None:
            commands = f"; for servers of the user's own, type `{host.programs[0]} mcp` commands" if host.plugin else ""
            raise NotFound(f"there is no {path}", hint=f"{host.title} has no servers there{commands}")
        change = wrapping.with_wrapped(_text(path), server, names, self.program, path)
        after = change.text.encode("utf-8", "surrogateescape")
        return [Edit(path, before, after, change.paths)] if after != before else []

    def wrap(self, host: Host, names: Sequence[str]) -> list[Edit]:
        """Put the gateway before servers a host has and return what was changed."""
        edits = self.plan_wrapping(host, names)
        for edit in edits:
            self._write(host, edit)
        return edits

    def _servers_file(self, host: Host) -> str:
        server = host.server or host.project_servers
        return os.path.abspath(expanded(host, server.file, self.environ)) if server else ""

    def uninstall(self, host: Host) -> list[Edit]:
        """Remove this program's entries from a host, also those of an older version; return what was changed."""
        done = self._remove_plugin(host) if host.plugin else []
        for entry in self.journal.of(host.name):
            edit = self._undone(host, entry)
            if edit:
                self._apply(edit)
                done.append(edit)
            _remove_unfinished(entry.file)
            _remove_folders(entry.folders)
            self.journal.remove(entry)
        for path in self._files(host):
            # Entries that the journal does not list are recognised by their command.
            before = _text(path)
            after = self._stripped(host, path, before, ())
            if after != before:
                edit = Edit(path, before.encode(), after.encode())
                self._apply(edit)
                done.append(edit)
        return done

    def _files(self, host: Host) -> list[str]:
        files = [part.file for part in (host.server, host.hooks) if part]
        paths = [expanded(host, file, self.environ) for file in dict.fromkeys(files)]
        return [path for path in paths if os.path.exists(path)]

    def _undone(self, host: Host, entry: Entry) -> Edit | None:
        current = _bytes(entry.file)
        if current is None or current == entry.before:
            return None
        if digest(current) == entry.hash_after:
            return Edit(entry.file, current, entry.before)
        if host.script and entry.file == expanded(host, host.script, self.environ):
            return None  # the user has changed it
        text = current.decode("utf-8", "surrogateescape")
        after = self._stripped(host, entry.file, text, entry.made)
        if entry.before is None and after.strip() in ("", "{}"):
            return Edit(entry.file, current, None)  # the file was made for our entries, and holds nothing else
        return Edit(entry.file, current, after.encode("utf-8", "surrogateescape")) if after != text else None

    def _stripped(self, host: Host, path: str, text: str, made: tuple[str, ...]) -> str:
        is_toml = path.endswith(".toml")
        servers = host.server or host.project_servers
        if servers and os.path.basename(path) == os.path.basename(self._servers_file(host)):
            text = wrapping.without_wrapped(text, servers, path)
        if host.server and path == expanded(host, host.server.file, self.environ):
            text = settings_text.without_server(text, host.server, path)
        if host.hooks and path == expanded(host, host.hooks.file, self.environ):
            text = settings_text.without_hooks(text, path)
        return text if is_toml else settings_text.without_empty(text, made)

    def _write(self, host: Host, edit: Edit) -> None:
        held = self.journal.find(host.name, edit.file)
        after = digest(edit.after)
        entry = Entry(
            host.name, edit.file, edit.paths, edit.made, _missing_folders(edit.file), digest(edit.before), after,
            edit.before,
        )  # fmt: skip
        # The journal first: should the program be killed in between, what was there before is known.
        self.journal.put(entry)
        try:
            self._apply(edit)
        except HaversackError:
            written = self.journal.find(host.name, edit.file)
            if written:
                self.journal.remove(written)
            if held:
                self.journal.put(held)
            raise

    def _apply(self, edit: Edit) -> None:
        try:
            if edit.after is None:
                os.unlink(edit.file)
            else:
                write_whole(edit.file, edit.after)
        except OSError as error:
            raise StoreReadOnly(
                f"{edit.file} cannot be written: {error.strerror}", hint="check its permissions; it was not changed"
            ) from None

    def _has_plugin(self, host: Host) -> bool:
        return any(entry.paths == ("plugin",) for entry in self.journal.of(host.name))

    def _add_plugin(self, host: Host) -> list[Edit]:
        assert host.plugin is not None
        folder = write_plugin(self.home, host, self.program)
        files = [expanded(host, file, self.environ) for file in host.plugin.changed_files]
        before = {file: _bytes(file) for file in files}
        for command in host.plugin.add:
            self._run(tuple(word.replace("{folder}", folder) for word in command))
        edits = [Edit(file, held, _bytes(file), ("plugin",)) for file, held in before.items()]
        for edit in edits:
            entry = Entry(
                host.name, edit.file, ("plugin",), (), (), digest(edit.before), digest(edit.after), edit.before
            )  # fmt: skip
            self.journal.put(entry)
        return edits

    def _remove_plugin(self, host: Host) -> list[Edit]:
        assert host.plugin is not None
        if not self._has_plugin(host):
            return []
        unchanged = [entry for entry in self.journal.of(host.name) if digest(_bytes(entry.file)) == entry.hash_after]
        done: list[Edit] = []
        for command in host.plugin.remove:
            self._run(command)
        for entry in unchanged:
            # The host's program leaves empty containers behind; nobody else had changed the file.
            edit = Edit(entry.file, _bytes(entry.file), entry.before)
            if edit.before != edit.after:
                self._apply(edit)
            done.append(edit)
        for entry in self.journal.of(host.name):
            if entry.paths == ("plugin",):
                self.journal.remove(entry)
        shutil.rmtree(os.path.join(self.home, "hosts", "plugin", host.name), ignore_errors=True)
        return done

    def _run(self, command: tuple[str, ...]) -> None:
        program = shutil.which(command[0], path=self.environ.get("PATH", os.defpath))
        if program is None:
            raise ToolFailed(f"{command[0]} is not on the path", hint="install it, or open a shell that finds it")
        try:
            run = subprocess.run(
                [program, *command[1:]], capture_output=True, env=dict(self.environ), timeout=_SECONDS,
                stdin=subprocess.DEVNULL, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise ToolFailed(f"`{' '.join(command)}` took over {_SECONDS} seconds", hint="run it yourself") from None
        if run.returncode:
            said = (run.stderr or run.stdout).decode("utf-8", "replace").strip()
            raise ToolFailed(f"`{' '.join(command)}` failed: {said[-300:]}", hint="mend that and try again")


def _program_words() -> tuple[str, ...]:
    """The absolute path of this program, since programs with windows do not have the shell's path."""
    typed = os.path.abspath(sys.argv[0])
    if os.path.basename(typed).split(".")[0] == "haversack" and os.access(typed, os.X_OK):
        return (typed,)
    if found := shutil.which("haversack"):
        return (os.path.abspath(found),)
    beside = os.path.join(os.path.dirname(sys.executable), "haversack")
    return (beside,) if os.access(beside, os.X_OK) else (sys.executable, "-m", "haversack")


def _bytes(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HaversackError(f"{path} cannot be read: {error.strerror}") from None


def _text(path: str) -> str:
    return (_bytes(path) or b"").decode("utf-8", "surrogateescape")


def _missing_folders(path: str) -> tuple[str, ...]:
    missing: list[str] = []
    folder = os.path.dirname(path)
    while folder and not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return tuple(missing)


def _remove_unfinished(path: str) -> None:
    """Remove the temporary file that an interrupted write left beside a file."""
    from glob import escape, glob

    for left in glob(f"{escape(os.path.realpath(path))}.haversack-*"):
        try:
            os.unlink(left)
        except OSError:
            return


def _remove_folders(folders: tuple[str, ...]) -> None:
    """Remove those of the folders made for a file that are empty."""
    for folder in folders:
        try:
            os.rmdir(folder)
        except OSError:
            return
