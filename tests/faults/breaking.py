"""Raise an exception at the n-th function that is entered, without a list of functions."""

import sys
from collections.abc import Iterator
from inspect import CO_COROUTINE
from itertools import islice
from pathlib import Path
from types import CodeType
from typing import Any, Self

import toolmd

PACKAGE = str(Path(toolmd.__file__).parent)
SECRET = "hunter2"
"""What the exception says, and nobody may read."""


class Fault(Exception):  # noqa: N818 - nobody's own error, so nobody expects it
    """What breaks a function."""


class Breaker:
    """Counts the functions of Toolmd that are entered or resumed, and breaks one of them."""

    def __init__(self, at: int, *, once: str = "", known: set[Any] | None = None) -> None:
        """Break the function number `at`, from 1.

        Below the folder `once` of the package each function counts when it is entered first. With
        `known`, a function counts once for each three functions around it, over all breakers.
        """
        self.at = at
        self._known = known
        self._once = f"{PACKAGE}/{once}" if once else ""
        self._met: set[Any] = set()
        self._begun: set[Any] = set()
        self.seen = 0
        self.dropped = False
        """Whether Python dropped the exception, as it does where a finalizer runs or a generator
        is closed: then nothing was broken."""
        self.chain: tuple[str, ...] = ()
        """What was broken and the functions of Toolmd around it, each as its file below the
        package and its name; empty where fewer than `at` were entered."""

    def __enter__(self) -> Self:
        self._tell = sys.unraisablehook
        sys.unraisablehook = self._unraisable
        # Python drops what it calls here when it raises, and in 3.11 a finalizer that runs at the
        # start of a call can make that happen before the call of that function: so own it.
        self._tracing = self._enter
        sys.settrace(self._tracing)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)
        sys.unraisablehook = self._tell

    def _unraisable(self, found: Any) -> None:
        if isinstance(found.exc_value, Fault):
            self.dropped = True
        else:
            self._tell(found)

    def _enter(self, frame: Any, event: str, _: object) -> None:
        code = frame.f_code
        ours = code.co_filename.startswith(PACKAGE) and "__repr__" not in code.co_qualname
        if event != "call" or not ours or frame in self._begun:
            return  # A coroutine that goes on calls nothing.
        if code.co_flags & CO_COROUTINE:
            self._begun.add(frame)
        if self._once and code.co_filename.startswith(self._once):
            if code in self._met:
                return
            self._met.add(code)
        if self._known is not None:
            place = tuple(islice(_codes(frame), 4))
            if place in self._known:
                return
            self._known.add(place)
        self.seen += 1
        if self.seen == self.at:
            self.chain = tuple(_around(frame))
            # What a trace function raises is raised where the traced one begins.
            raise Fault(SECRET)


def _codes(frame: Any) -> Iterator[CodeType]:
    while frame is not None:
        if frame.f_code.co_filename.startswith(PACKAGE):
            yield frame.f_code
        frame = frame.f_back


def _around(frame: Any) -> list[str]:
    return [
        f"{Path(code.co_filename).relative_to(PACKAGE).as_posix()}:{code.co_qualname}"
        for code in _codes(frame)
    ]
