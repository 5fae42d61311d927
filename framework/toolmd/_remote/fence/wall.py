"""Fence this process in, and become another program. It runs alone, without the package.

Usage: wall.py POLICY PROGRAM [ARGUMENT ...]. The policy is JSON: `read` and `write` have paths, or
are null for no fence around files; `network` is false for none.
"""

import contextlib
import ctypes
import json
import os
import stat
import struct
import sys

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_NO_NEW_PRIVILEGES = 38
_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
_READ = 1 << 0 | 1 << 2 | 1 << 3
_OF_FILES = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
"""The rights that a file can have: execute, write, read, truncate, and commands of devices."""
_RIGHTS = {1: 1 << 13, 2: 1 << 14, 3: 1 << 15, 4: 1 << 15, 5: 1 << 16}
"""The first unknown right of files by the version of Landlock."""
_SCOPED_SINCE = 6
_SCOPES = 1 << 0 | 1 << 1
"""No abstract sockets and no signals to processes outside."""

_libc = ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """Return the system's version of Landlock; 0 where it has none."""
    return max(int(_libc.syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))), 0)


def shut_network() -> None:
    """Leave this process without any network, loopback included; raises OSError."""
    user, group = os.geteuid(), os.getegid()
    if _libc.unshare(_NEW_NETWORK) == 0:
        return
    _check(_libc.unshare(_NEW_USER | _NEW_NETWORK), "a network namespace")
    with contextlib.suppress(OSError):
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123 - alone
                file.write(text)


def shut_files(read: list[str], write: list[str]) -> None:
    """Leave this process only these paths; raises OSError."""
    known = version()
    if not known:
        raise OSError("this system has no Landlock")
    every = _RIGHTS.get(known, 1 << 16) - 1
    attributes = struct.pack("=Q", every)
    if known >= _SCOPED_SINCE:
        attributes = struct.pack("=QQQ", every, 0, _SCOPES)
    ruleset = _libc.syscall(_CREATE, attributes, ctypes.c_size_t(len(attributes)), 0)
    _check(ruleset, "a ruleset of Landlock")
    for paths, rights in ((read, _READ), (write, every)):
        for path in paths:
            _allow(ruleset, path, rights & every)
    _check(_libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "no new privileges")
    _check(_libc.syscall(_RESTRICT, ruleset, 0), "the restriction of Landlock")
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, place)
        _check(_libc.syscall(_ADD, ruleset, 1, rule, 0), f"a rule for {path}")
    finally:
        os.close(place)


def _check(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what} is not available: {os.strerror(number)}")


def main(policy: str, *command: str) -> None:
    """Apply a policy, and become the program."""
    wanted = json.loads(policy)
    try:
        if not wanted["network"]:
            shut_network()
        if wanted["read"] is not None:
            shut_files(wanted["read"], wanted["write"])
        os.execvp(command[0], command)  # noqa: S606 - the table's own command
    except OSError as error:
        sys.exit(f"The fence or its program can't start: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
