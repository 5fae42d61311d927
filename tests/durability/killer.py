"""Kills its own process at a boundary of a step, as a power cut would."""

import os
import signal
from collections.abc import Callable
from typing import Any

from toolmd import hookimpl
from toolmd._types.call import Call


class Killer:
    """A plugin that ends the process before a call, or after one that took effect."""

    def __init__(self, boundary: str, told: Callable[[Call], str]) -> None:
        """Prepare a killer for a `boundary` such as `before book`; `told` returns a call's word."""
        self.boundary = boundary
        self._told = told

    def reach(self, boundary: str) -> None:
        """Come to a boundary."""
        if boundary == self.boundary:
            os.kill(os.getpid(), signal.SIGKILL)

    @hookimpl
    def toolmd_before_call(self, call: Any, spec: Any) -> None:
        """Reach the place where the step before is recorded and this one has done nothing."""
        self.reach(f"before {self._told(call)}")

    @hookimpl
    def toolmd_after_call(self, call: Any, spec: Any, result: Any) -> None:
        """Reach the place where this step took effect and is not recorded."""
        if result.outcome == "ok":
            self.reach(f"after {self._told(call)}")
