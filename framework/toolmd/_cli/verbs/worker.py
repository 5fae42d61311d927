"""`worker`: execute the runs of skills."""

import os
import signal
import time

from toolmd._cli.frame import ExitCode, ProjectOption, open_workspace, stop
from toolmd._cli.screen import err

POLL_S = 0.2
"""How often the main thread looks for a signal, in seconds."""


def worker(*, project: ProjectOption = None) -> None:
    """Execute the runs that other processes left unfinished, and those that are due.

    Several workers may share one engine. SIGINT or SIGTERM stops it: calls in flight finish
    (`serve.drain_timeout`), and other workers execute the rest. A second signal ends it at once.
    """
    # A list, not an event: a handler that runs while the main thread has the event's lock would
    # wait for ever.
    signals: list[int] = []

    def end(number: int, _: object) -> None:
        if signals:
            os._exit(ExitCode.INTERRUPTED)
        signals.append(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    from toolmd._workspace.gauges import watch_state

    with open_workspace(project, traces=True) as workspace:
        if not workspace.runs.start_sync():
            help_ = 'set store = "sqlite", or a postgresql:// URL'
            stop(ExitCode.USAGE, 'runs are in memory only (store = "memory")', help_)
        watch_state(workspace)
        err("worker: waits for runs; Ctrl-C ends it")
        while not signals:
            time.sleep(POLL_S)
        workspace.runs.stop_sync(
            workspace.settings.serve.drain_timeout,
            lambda: err(
                "worker: ends when the calls of its runs have; a second signal ends at once"
            ),
        )
