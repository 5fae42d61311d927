"""Keep several server processes on one socket: start them, start dead ones again, end them."""

import multiprocessing
import os
import signal
import socket
import threading
import time
from multiprocessing.process import BaseProcess

from toolmd._cli.frame import ExitCode
from toolmd._cli.screen import err
from toolmd._cli.serving import HttpPlan, opened, serve_plan
from toolmd._types.settings import ServeSettings

FIRST_PAUSE_S = 0.5
"""The pause before a dead process is started again; it doubles with each death."""
LONGEST_PAUSE_S = 30.0
LIVED_S = 30.0
"""The time after which a death counts as the first one again, in seconds."""
MARGIN_S = 7.0
"""The time that a process has to close connections and stores after the drain, in seconds."""
LOOK_S = 0.1
"""The time between two looks at the processes and the signals, in seconds."""


class Worker:
    """One place among the server processes: its process now, and when it starts the next."""

    def __init__(self, plan: HttpPlan, listening: socket.socket, limit_s: float) -> None:
        self._arguments = (plan, listening, limit_s)
        self._pause_s = FIRST_PAUSE_S
        self._due: float | None = None
        """When the next process starts; None while one lives."""
        self.process = self._start()

    def _start(self) -> BaseProcess:
        # A new interpreter: engines and threads would not survive a fork.
        process = multiprocessing.get_context("spawn").Process(target=work, args=self._arguments)
        process.start()
        self._began = time.monotonic()
        return process

    def look(self) -> None:
        """Start the next process after a death, with longer and longer pauses."""
        now = time.monotonic()
        if self._due is None and not self.process.is_alive():
            if now - self._began >= LIVED_S:
                self._pause_s = FIRST_PAUSE_S
            code = f"ended with exit code {self.process.exitcode}"
            err(f"server process {self.process.pid} {code}; it starts again in {self._pause_s:g} s")
            self._due = now + self._pause_s
            self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
        elif self._due is not None and now >= self._due:
            self._due, self.process = None, self._start()

    def send(self, number: int) -> None:
        """Send a signal, if the process lives."""
        if self.process.is_alive() and self.process.pid is not None:
            os.kill(self.process.pid, number)


def keep_workers(
    plan: HttpPlan, listening: socket.socket, number: int, settings: ServeSettings
) -> ExitCode:
    """Keep server processes running until a signal, and return the exit code."""
    limit_s = settings.drain_timeout + MARGIN_S
    signals: list[int] = []
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, lambda sent, _: signals.append(sent))
    workers = [Worker(plan, listening, limit_s) for _ in range(number)]
    ends = None
    while ends is None:
        time.sleep(LOOK_S)
        while signals and ends is None:
            sent = signals.pop(0)
            for worker in workers:
                worker.send(sent)
            ends = None if sent == signal.SIGHUP else time.monotonic() + limit_s
        for worker in workers if ends is None else ():
            worker.look()
    listening.close()
    while late := [one for one in workers if one.process.is_alive()]:
        if is_forced := any(one != signal.SIGHUP for one in signals):
            err("ended at once; calls in flight were cut off")
        elif time.monotonic() > ends:
            err(f"{len(late)} of {number} server processes did not end, and are killed")
        if is_forced or time.monotonic() > ends:
            for worker in late:
                worker.process.kill()
                worker.process.join()
            return ExitCode.INTERRUPTED if is_forced else ExitCode.DONE
        time.sleep(LOOK_S)
    return ExitCode.DONE


def work(plan: HttpPlan, listening: socket.socket, limit_s: float) -> None:
    """Serve in a process of its own, until its parent ends it or has ended."""
    # Until it serves, a Ctrl-C of the terminal ends it without a trace.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, args=(limit_s,), daemon=True).start()
    with opened(plan) as serves:
        serve_plan(plan, listening, *serves, is_worker=True)


def _end_with_parent(limit_s: float) -> None:
    """End this process when its parent has ended; if it can't, cut it off at the limit."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(limit_s)
    os._exit(ExitCode.INTERRUPTED)
