"""Build the fence of a program from the folders and hosts that its table allows."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

_WALL = Path(__file__).with_name("wall.py")
_SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/etc", "/proc", "/sys", "/nix",
    "/run/systemd/resolve",
)  # fmt: skip
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
_OF_PREFIX = ("lib", "lib64", "share", "pyvenv.cfg")
READ_ONLY = ":read"
"""The ending of a folder that may only be read."""
_PROBE_S = 20.0


class Fence(NamedTuple):
    """What a program may reach."""

    folders: tuple[str, ...] | None = None
    """The folders that it may read and write, `:read` behind those that it may only read. None for
    all that its user may reach."""
    network: bool = True
    """Whether it may use the network."""

    @property
    def is_open(self) -> bool:
        """Whether nothing is fenced."""
        return self.folders is None and self.network

    @property
    def words(self) -> str:
        """What is fenced, in a few words."""
        if self.is_open:
            return "no fence"
        folders = "all files" if self.folders is None else f"{len(self.folders)} folders"
        return f"fence: {folders}, {'all hosts' if self.network else 'no network'}"


def fence_of(folders: tuple[str, ...] | None, hosts: tuple[str, ...] | None) -> Fence:
    """Return the fence of a table; `hosts` is empty for no network, and None for all."""
    return Fence(folders, hosts is None)


def fenced(
    command: Sequence[str], fence: Fence, root: Path, environ: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the command that starts a program in its fence; relative folders are of `root`.

    Raises OSError for a folder that does not exist, and where the system has no such fence.
    """
    if fence.is_open:
        return tuple(command)
    if missing := lacking(fence):
        raise OSError(f"the table asks for a fence, and {missing}")
    read, write = None, []
    if fence.folders is not None:
        read = [*_existing(_SYSTEM), *_own_paths(command, root, environ)]
        write = list(_existing(_DEVICES))
        for folder in fence.folders:
            path = (root / Path(folder.removesuffix(READ_ONLY)).expanduser()).resolve()
            if not path.exists():
                raise OSError(f"its folder {folder} does not exist")
            (read if folder.endswith(READ_ONLY) else write).append(str(path))
    policy = json.dumps({"read": read, "write": write, "network": fence.network})
    return (sys.executable, "-I", "-S", str(_WALL), policy, *command)


@cache
def lacking(fence: Fence) -> str:
    """Return what the system lacks for such a fence; empty where it was tried and works."""
    if fence.is_open:
        return ""
    if not sys.platform.startswith("linux"):
        return "only Linux has one"
    wanted: dict[str, object] = {"network": fence.network, "read": None, "write": []}
    if fence.folders is not None:
        wanted["read"] = ["/"]
    command = (sys.executable, "-I", "-S", str(_WALL), json.dumps(wanted), "/bin/true")
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            command, capture_output=True, text=True, check=False, timeout=_PROBE_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"it could not be tried: {error}"
    return "" if done.returncode == 0 else done.stderr.strip()[-300:] or "it did not work"


def _own_paths(command: Sequence[str], root: Path, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield what a program needs of itself: its file, its libraries, and files among arguments."""
    found = shutil.which(command[0], path=environ.get("PATH", os.defpath))
    programs = [Path(found)] if found else []
    files = [path for word in command[1:] if (path := root / word).is_file()]
    for path in [*programs, *files]:
        for one in {path.absolute(), path.resolve()}:
            yield str(one)
            packages = [up for up in one.parents if up.name == "node_modules"]
            yield from map(str, packages[-1:])
    for program in programs:
        for one in {program.absolute(), program.resolve()}:
            prefix = one.parent.parent
            yield from _existing([str(prefix / name) for name in _OF_PREFIX])


def _existing(paths: Sequence[str]) -> Iterator[str]:
    return (path for path in paths if Path(path).exists())
