"""Serve in one of several processes, as the parent says, and end with the parent."""

import contextlib
import json
import os
import signal
import socket
import threading
import time
from typing import Any, BinaryIO

from toolmd._cli.frame import ExitCode
from toolmd._cli.screen import err
from toolmd._cli.server.over_http import HttpPlan, opened, serve_plan, tell_losses
from toolmd._cli.server.serving import Told
from toolmd._cli.server.supervisor import READY


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
