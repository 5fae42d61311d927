"""Keep several server processes on one socket: start them, start dead ones again, end them."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO, Self

from toolmd._cli.frame import ExitCode, complain
from toolmd._cli.screen import err
from toolmd._cli.serving import HttpPlan, Told, opened, serve_plan, tell_losses
from toolmd._types.settings import ServeSettings

FIRST_PAUSE_S = 0.5
"""The pause before a dead process is started again; it doubles with each death."""
LONGEST_PAUSE_S = 30.0
LIVED_S = 30.0
"""The time after which a death counts as the first one again, in seconds."""
MARGIN_S = 7.0
"""The time that a process has to close connections and stores after the drain, in seconds."""
READY = b"ready\n"
"""The message of a process that serves."""


class ServerProcess:
    """One process that serves the shared socket; the end of its line is the end of its parent."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer
        self.pid = process.pid
        self.serves = False

    @classmethod
    async def start(cls, head: dict[str, Any], listening: socket.socket) -> Self:
        """Start a process and send it the head: what it needs to know."""
        ours, theirs = socket.socketpair()
        # A new interpreter: engines and threads would not survive a fork.
        with theirs:
            process = await asyncio.create_subprocess_exec(
                *_command(),
                *("serve", "--transport", "http", "--line", str(theirs.fileno())),
                pass_fds=(theirs.fileno(), listening.fileno()),
                stdin=asyncio.subprocess.DEVNULL,
            )
        reader, writer = await asyncio.open_connection(sock=ours)
        writer.write(json.dumps(head).encode() + b"\n")
        return cls(process, reader, writer)

    async def wait_ready(self) -> bool:
        """Wait until the process serves; return False if it died before."""
        try:
            self.serves = await self._reader.readline() == READY
        except ConnectionError:
            self.serves = False
        return self.serves

    async def wait_dead(self) -> int:
        """Return the exit code; a signal's number is negative."""
        code = await self._process.wait()
        self.serves = False
        self._writer.close()
        return code

    def send(self, sent: signal.Signals) -> None:
        """Send a signal, if the process lives."""
        if self._process.returncode is None:
            self._process.send_signal(sent)


class Supervisor:
    """The parent of several server processes: it serves nothing itself."""

    def __init__(
        self, plan: HttpPlan, listening: socket.socket, number: int, settings: ServeSettings
    ) -> None:
        self._plan = plan
        self._listening = listening
        self._number = number
        self._settings = settings
        self._processes: dict[int, ServerProcess] = {}
        self._failed: set[int] = set()
        """The places whose process died before any process served."""
        self._begun = False
        """Whether any process has served."""
        self._sent: signal.Signals | None = None
        """The signal that ends the processes, once there was one."""
        self._stopped = asyncio.Event()
        self._code = int(ExitCode.DONE)

    async def run(self) -> int:
        """Keep the processes running until a signal; return the exit code."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._end, number)
        loop.add_signal_handler(signal.SIGHUP, self._reload)
        places = [loop.create_task(self._keep(place)) for place in range(1, self._number + 1)]
        await self._stopped.wait()
        grace_s = self._settings.drain_grace if self._sent is signal.SIGTERM else 0.0
        loop.call_later(grace_s, self._listening.close)
        _, late = await asyncio.wait(places, timeout=_limit_s(self._settings))
        if late:
            err(f"{len(late)} of {self._number} server processes did not end, and are killed")
            self._kill()
        await asyncio.gather(*places)
        return self._code

    async def _keep(self, place: int) -> None:
        """Keep one process running, with longer and longer pauses while it keeps dying."""
        loop = asyncio.get_running_loop()
        pause_s = FIRST_PAUSE_S
        while not self._stopped.is_set():
            began = loop.time()
            process = await self._start(place)
            served = await process.wait_ready()
            self._begun |= served
            code = await process.wait_dead()
            if self._stopped.is_set():
                return
            said = f"server process {place} (pid {process.pid}) ended with exit code {code}"
            if not served and self._all_failed(place):
                err(said)
                self._give_up(code)
                return
            if loop.time() - began >= LIVED_S:
                pause_s = FIRST_PAUSE_S
            err(f"{said}; it starts again in {pause_s:g} s")
            await self._pause(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    async def _start(self, place: int) -> ServerProcess:
        head = {
            "plan": self._plan._asdict(),
            "listening": self._listening.fileno(),
            "family": self._listening.family,
            "place": place,
            "first": place == 1 and place not in self._processes,
            "limit_s": _limit_s(self._settings),
        }
        process = self._processes[place] = await ServerProcess.start(head, self._listening)
        if self._sent is not None:  # meanwhile
            process.send(self._sent)
        return process

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopped.wait(), seconds)

    def _all_failed(self, place: int) -> bool:
        """Record a death at the start; return whether no process ever served."""
        self._failed.add(place)
        return not self._begun and len(self._failed) == self._number

    def _give_up(self, code: int) -> None:
        complain(
            ExitCode.FINDINGS,
            f"none of the {self._number} server processes could start",
            "their own messages are above; `toolmd serve` without --workers shows one alone",
        )
        self._code = code if code > 0 else ExitCode.INTERNAL
        self._kill()

    def _end(self, number: signal.Signals) -> None:
        """End the processes at the first signal; kill them at the second."""
        if self._sent is not None:
            err("ended at once; calls in flight were cut off")
            self._code = ExitCode.INTERRUPTED
            self._kill()
            return
        self._sent = number
        for process in self._processes.values():
            # One that does not serve yet ignores Ctrl-C, and SIGTERM ends it.
            process.send(number if process.serves else signal.SIGTERM)
        self._stopped.set()

    def _kill(self) -> None:
        self._sent = signal.SIGKILL
        for process in self._processes.values():
            process.send(signal.SIGKILL)
        self._stopped.set()

    def _reload(self) -> None:
        # One that does not serve yet reads the files anyway.
        for process in self._processes.values():
            if process.serves:
                process.send(signal.SIGHUP)


def _limit_s(settings: ServeSettings) -> float:
    """Return the time after which a process that drains is killed, in seconds."""
    return settings.drain_grace + settings.drain_timeout + MARGIN_S


def _command() -> list[str]:
    """Return the command of this Python package, with the import path of this process."""
    # `-m` would add the current folder, whose files could hide other modules.
    here = {"", str(Path.cwd())}
    return [sys.executable, *([] if here & {*sys.path} else ["-P"]), "-m", "toolmd"]


def serve_as_member(descriptor: int) -> None:
    """Serve what the parent sends over the socket with this file descriptor."""
    # Ctrl-C reaches all processes of the terminal; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    line = socket.socket(fileno=descriptor)
    # Programs that tools start must not keep the sockets open.
    line.set_inheritable(False)
    file = line.makefile("rb")
    head: dict[str, Any] = json.loads(file.readline())
    family, number = head["family"], head["listening"]
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=number)
    listening.set_inheritable(False)
    threading.Thread(target=_end_with, args=(file, head["limit_s"]), daemon=True).start()
    plan = HttpPlan(**head["plan"])
    told = Told(lambda text: err(f"server process {head['place']}: {text}"), by_parent=True)
    with opened(plan) as serves:
        if head["first"]:
            tell_losses(serves[0])
        serve_plan(plan, listening, serves, started=lambda: line.sendall(READY), told=told)


def _end_with(parent: BinaryIO, limit_s: float) -> None:
    """End this process when its parent has ended; if it can't, cut it off at the limit."""
    with contextlib.suppress(OSError):
        while parent.read(1):
            pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(limit_s)
    os._exit(ExitCode.INTERRUPTED)
