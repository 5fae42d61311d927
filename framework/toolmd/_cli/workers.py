"""Run several server processes on one socket: signals, replacements, and the end."""

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

PAUSE_S = 0.5
"""The pause before a dead process is started again, in seconds."""
MARGIN_S = 7.0
"""The time that a process has to close connections and stores after the drain, in seconds."""
LOOK_S = 0.1
"""The time between two looks at the processes and the signals, in seconds."""


def keep_workers(
    plan: HttpPlan, listening: socket.socket, number: int, settings: ServeSettings
) -> ExitCode:
    """Keep server processes running until a signal, and return the exit code."""
    signals: list[int] = []
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, lambda sent, _: signals.append(sent))
    workers = [_start(plan, listening) for _ in range(number)]
    ends = 0.0
    while not ends or any(worker.is_alive() for worker in workers):
        time.sleep(LOOK_S)
        while signals:
            if (sent := signals.pop(0)) != signal.SIGHUP and ends:
                err("ended at once; calls in flight were cut off")
                _kill(workers)
                return ExitCode.INTERRUPTED
            for worker in workers:
                if worker.is_alive():
                    os.kill(worker.pid or 0, sent)
            if sent != signal.SIGHUP:
                listening.close()
                ends = time.monotonic() + settings.drain_timeout + MARGIN_S
        for place, worker in enumerate(workers):
            if not (ends or worker.is_alive()):
                code = f"ended with exit code {worker.exitcode}"
                err(f"server process {worker.pid} {code}; it starts again in {PAUSE_S:g} s")
                time.sleep(PAUSE_S)
                workers[place] = _start(plan, listening)
        late = sum(worker.is_alive() for worker in workers)
        if ends and late and time.monotonic() > ends:
            err(f"{late} of {number} server processes did not end, and are killed")
            _kill(workers)
    return ExitCode.DONE


def _start(plan: HttpPlan, listening: socket.socket) -> BaseProcess:
    # A new interpreter: engines and threads would not survive a fork.
    process = multiprocessing.get_context("spawn").Process(target=work, args=(plan, listening))
    process.start()
    return process


def _kill(workers: list[BaseProcess]) -> None:
    for worker in workers:
        worker.kill()
        worker.join()


def work(plan: HttpPlan, listening: socket.socket) -> None:
    """Serve in a process of its own, until its parent ends it or has ended."""
    # Until it serves, a Ctrl-C of the terminal ends it without a trace.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with opened(plan) as serves:
        serve_plan(plan, listening, *serves, is_worker=True)


def _end_with_parent() -> None:
    """End this process when its parent has ended."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
