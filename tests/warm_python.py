"""Start processes of this Python quickly: forks of one that has imported Toolmd, and no more.

`Popen` and `run` are those of `subprocess`. A command such as `[sys.executable, "-m", "toolmd"]`,
`-c PROGRAM` or a file becomes a fork; any other command, other options of Python and other systems
than Linux start a program as usual. Tests of what a start imports use `subprocess` itself.
"""

import atexit
import contextlib
import ctypes
import gc
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import Any, Never

SUBREAPER = 36
"""Of Linux's prctl: who adopts the grandchildren whose parent ended."""
FIXED = ("PYTHON", "LC_", "LANG")
"""Beginnings of the variables that Python reads at its start."""
MODULES = (
    "asyncio", "importlib.metadata", "logging", "multiprocessing.spawn", "runpy", "sqlite3",
    "httpx", "jsonschema", "markdown_it", "mcp.server.lowlevel", "pluggy", "psycopg", "pydantic",
    "re2", "starlette.applications", "tomllib", "typer", "uvicorn.main", "watchdog",
    "yaml",
    "toolmd._cli.commands", "toolmd._cli.serving", "toolmd._cli.verbs.calls",
    "toolmd._cli.verbs.check", "toolmd._cli.verbs.runs", "toolmd._cli.verbs.serve",
    "toolmd._http.app", "toolmd._mcp.server", "toolmd._skills.engine",
    "toolmd._store.confirmations", "toolmd._workspace.workspace",
)  # fmt: skip


class Popen(subprocess.Popen[Any]):
    """A process, which is a fork where its command is a program of this Python."""

    def _execute_child(self, args: Any, *rest: Any) -> None:
        _executable, before, _close, passed, cwd, env, _info, _flags, shell = rest[:9]
        pipes, user = rest[9:15], rest[16:19]
        streams = [pipes[0], pipes[3], pipes[5]]
        session = rest[20]
        words = [os.fspath(word) for word in args] if not isinstance(args, str | bytes) else []
        environ = dict(os.environ if env is None else env)
        warm = None if shell or before or passed or any(user) else _warm()
        if warm is None or not _is_program(words) or _fixed(environ) != warm.fixed:
            super()._execute_child(args, *rest)  # type: ignore[misc]
            return
        given = {
            "words": words[1:],
            "cwd": str(Path(cwd or ".").absolute()),
            "environ": environ,
            "session": session,
        }
        self.pid = warm.start(given, [fd if fd != -1 else n for n, fd in enumerate(streams)])
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]


def run(command: Any, **options: Any) -> subprocess.CompletedProcess[Any]:
    """Do as `subprocess.run`."""
    check, timeout, sent = (options.pop(name, None) for name in ("check", "timeout", "input"))
    if options.pop("capture_output", False):
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if sent is not None:
        options["stdin"] = subprocess.PIPE
    with Popen(command, **options) as process:
        try:
            out, err = process.communicate(sent, timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


def _is_program(words: list[str]) -> bool:
    if len(words) < 2 or words[0] != sys.executable:
        return False
    if words[1] == "-c":  # What looks at or hides modules needs a start of its own.
        return not re.search(r"sys\.modules|meta_path", words[2])
    return words[1:3] == ["-m", "toolmd"] or words[1].endswith(".py")


def _fixed(environ: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in environ.items() if name.startswith(FIXED)}


class _Warm:
    """The process from which others are forked."""

    def __init__(self) -> None:
        self._here, there = socket.socketpair()
        self.fixed = _fixed(dict(os.environ))
        with there:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(there.fileno())],
                pass_fds=[there.fileno()],
                stdin=subprocess.DEVNULL,
            )
        self._lock = threading.Lock()
        self._prctl = ctypes.CDLL(None).prctl
        atexit.register(self.close)

    def start(self, given: dict[str, Any], streams: list[int]) -> int:
        """Fork a process; return its id. It becomes a child of this process."""
        text = json.dumps(given).encode("utf-8", "surrogateescape")
        with self._lock:
            self._prctl(SUBREAPER, 1)
            try:
                head = len(text).to_bytes(4, "big")
                socket.send_fds(self._here, [head], streams)
                self._here.sendall(text)
                pid = self._here.recv(4)
                assert self._here.recv(1), "the warm process ended"
            finally:
                self._prctl(SUBREAPER, 0)
        return int.from_bytes(pid, "big")

    def close(self) -> None:
        self._here.close()
        self._process.wait()


_WARM: list[_Warm] = []


def _warm() -> _Warm | None:
    if sys.platform != "linux":
        return None
    if not _WARM:
        _WARM.append(_Warm())
    return _WARM[0]


def serve(here: socket.socket) -> dict[str, Any] | None:
    """Fork for each request; return it in the fork, and None at the end."""
    while True:
        head, streams, _, _ = socket.recv_fds(here, 4, 3)
        if not head:
            return None
        text, left = b"", int.from_bytes(head, "big")
        while len(text) < left:
            text += here.recv(left - len(text))
        between = os.fork()
        if between == 0:
            child = os.fork()
            if child == 0:
                here.close()
                for number, fd in enumerate(streams):
                    os.dup2(fd, number)
                for fd in {*streams} - {0, 1, 2}:
                    os.close(fd)
                given: dict[str, Any] = json.loads(text.decode("utf-8", "surrogateescape"))
                return given
            os.write(here.fileno(), child.to_bytes(4, "big"))
            os._exit(0)
        for fd in streams:
            os.close(fd)
        os.waitpid(between, 0)
        here.sendall(b".")


def become(given: dict[str, Any]) -> Never:
    """Be the process of a command; it ends without the long way of taking all modules apart."""
    code: Any = 0
    try:
        _execute(given)
    except SystemExit as end:
        code = end.code
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:  # noqa: BLE001 - it is printed as Python prints it
        traceback.print_exc()
        code = 1
    if code is not None and not isinstance(code, int):
        sys.stderr.write(f"{code}\n")
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit((code or 0) & 0xFF)


def _execute(given: dict[str, Any]) -> None:
    import runpy
    import time
    import types

    if given["session"]:
        os.setsid()
    os.environ.clear()
    os.environ.update(given["environ"])
    os.chdir(given["cwd"])
    time.tzset()
    option, *words = given["words"]
    sys.stdin = open(0, encoding="utf-8", errors="strict", closefd=False)  # noqa: SIM115
    sys.stdout = open(  # noqa: SIM115
        1, "w", encoding="utf-8", errors="strict", buffering=1 if os.isatty(1) else -1,
        closefd=False,
    )  # fmt: skip
    sys.stderr = open(  # noqa: SIM115
        2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False
    )
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    sys.orig_argv = [sys.executable, option, *words]
    if option == "-m":
        sys.path[0] = str(Path.cwd())
        sys.argv = words
        runpy.run_module("toolmd", run_name="__main__", alter_sys=True)
    elif option == "-c":
        sys.path[0] = ""
        sys.argv = ["-c", *words[1:]]
        sys.modules["__main__"] = main = types.ModuleType("__main__")
        exec(compile(words[0], "<string>", "exec"), vars(main))
    else:
        sys.path[0] = str(Path(option).resolve().parent)
        sys.argv = [option, *words]
        sys.modules["__main__"] = main = types.ModuleType("__main__")
        main.__file__ = option
        exec(compile(Path(option).read_bytes(), option, "exec"), vars(main))


if __name__ == "__main__":
    from importlib import import_module

    signal.signal(signal.SIGINT, signal.default_int_handler)
    del sys.path[0]
    for name in MODULES:
        import_module(name)
    sys.path.insert(0, "")
    gc.collect()
    gc.freeze()
    if (order := serve(socket.socket(fileno=int(sys.argv[1])))) is not None:
        become(order)
