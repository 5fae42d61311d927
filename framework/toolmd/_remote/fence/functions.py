"""Run a project's own functions in fenced processes, each of which runs one call at a time."""

import json
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

from toolmd._remote.fence.fence import READ_ONLY, Fence, fenced
from toolmd._types.settings import AuditSettings, FenceSettings, ServeSettings, Settings
from toolmd.config.services import filled
from toolmd.errors import ImplementationError, ToolError

MAX_PROCESSES = min(8, 2 * (os.cpu_count() or 1))
"""The most calls that run in the fence of a project at one time; others wait."""
MAX_ANSWER = 64 << 20
"""The most bytes of an answer."""
_PROGRAM = "toolmd._workspace.fenced"
"""The module that a fenced process runs."""
_LATER_S = 0.5
"""How long after its deadline a process is killed: the pipeline reports the timeout."""
_KINDS = {kind.__name__: kind for kind in (ConnectionRefusedError, ConnectionError, TimeoutError)}
"""The errors by which the pipeline decides whether a call may be made again."""


class FencedFunctions:
    """The fenced processes of one project; a call starts one where none is idle."""

    def __init__(self, settings: Settings) -> None:
        """Keep the settings."""
        self.settings = settings
        self._places = threading.BoundedSemaphore(MAX_PROCESSES)
        self._lock = threading.Lock()
        self._idle: list[_Process] = []
        self._closed = False
        """Whether a process ends after its call."""

    def function(self, name: str, digest: str, seconds: float) -> Callable[..., Any]:
        """Return a function that runs a tool's Python in a fenced process.

        Args:
            name: The tool.
            digest: The hex sha256 of its Python, which the process must have, too.
            seconds: The time after which the process is killed.
        """

        def run(**arguments: Any) -> Any:
            request = json.dumps([name, digest, arguments]).encode() + b"\n"
            until = monotonic() + seconds + _LATER_S
            if not self._places.acquire(timeout=seconds):
                raise ConnectionRefusedError(f"{name} waited for a fenced process")
            try:
                return _value(name, self._answer(request, until))
            finally:
                self._places.release()

        return run

    def close(self) -> None:
        """End the processes that are idle; the others end after their call."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for process in idle:
            process.end()

    def _answer(self, request: bytes, until: float) -> dict[str, Any]:
        """Return the answer of a process that is idle, or of a new one."""
        with self._lock:
            process = self._idle.pop() if self._idle else None
        answer = process.ask(request, until) if process is not None else {"other": True}
        if process is None or "other" in answer:
            # A process that began before an edit has other Python; a new one may have this.
            if process is not None:
                process.end()
            process = self._started(until)
            answer = process.ask(request, until)
        with self._lock:
            kept = not self._closed and "lost" not in answer
            if kept:
                self._idle.append(process)
        if not kept:
            process.end()
        return answer

    def _started(self, until: float) -> "_Process":
        settings, fence = self.settings, self.settings.fence
        try:
            environ = {key: filled(text, os.environ) for key, text in fence.env.items()}
        except KeyError as error:
            raise ImplementationError(f"[fence] needs the variable {error.args[0]}") from None
        environ["PYTHONPATH"] = os.pathsep.join(_packages(settings.root))
        folders = fence.folders
        if folders is not None:
            own = dict.fromkeys(f"{path}{READ_ONLY}" for path in _own_code(settings))
            folders = (*folders, *own)
        program = (sys.executable, "-P", "-m", _PROGRAM)
        try:
            command = fenced(program, Fence(folders, fence.hosts is None), settings.root, environ)
            process = _Process(command, environ, settings.root)
        except OSError as error:
            raise ImplementationError(f"its fenced process can't start: {error}") from error
        # The secrets of the settings stay outside.
        told = replace(
            settings, store="memory", serve=ServeSettings(), audit=AuditSettings(enabled=False),
            fence=FenceSettings(),
        )  # fmt: skip
        first = pickle.dumps(told).hex().encode()
        ready = process.ask(first + b"\n", until)
        if "ready" not in ready:
            process.end()
            said = ready.get("error", ("", "it ended before it was ready"))[1]
            raise ImplementationError(f"its fenced process can't start: {said}")
        return process


class _Process:
    """A process that answers one request at a time, a line each."""

    def __init__(self, command: tuple[str, ...], environ: dict[str, str], root: Path) -> None:
        self._popen = subprocess.Popen(  # noqa: S603 - our own program
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ, cwd=root
        )

    def ask(self, request: bytes, until: float) -> dict[str, Any]:
        """Return the answer; `lost` where the process ends before, or is killed at `until`."""
        requests, answers = self._popen.stdin, self._popen.stdout
        assert requests is not None
        assert answers is not None
        timer = threading.Timer(max(until - monotonic(), 0), self._popen.kill)
        timer.daemon = True
        timer.start()
        try:
            requests.write(request)
            requests.flush()
            line = answers.readline(MAX_ANSWER)
            answer = json.loads(line) if line.endswith(b"\n") else {"lost": True}
        except (OSError, ValueError):
            answer = {"lost": True}
        finally:
            timer.cancel()
        return answer if isinstance(answer, dict) else {"lost": True}

    def end(self) -> None:
        """End the process."""
        self._popen.kill()
        with self._popen:
            pass


def _value(name: str, answer: dict[str, Any]) -> Any:
    """Return the value of an answer; raises what it says instead."""
    if "value" in answer:
        return answer["value"]
    if "tool_error" in answer:
        message, code = answer["tool_error"]
        raise ToolError(str(message), code=str(code))
    if "unfit" in answer:
        raise ImplementationError(f"{name} ran, but {answer['unfit']}")
    if "error" in answer:
        kind, said, trace = answer["error"]
        error = _KINDS.get(kind, RuntimeError)(f"in its fenced process: {said}")
        error.add_note(str(trace))
        raise error
    if "other" in answer:
        raise ImplementationError(f"the Python of {name} was edited just now, and nothing ran")
    # Nobody knows whether the function took effect.
    raise TimeoutError(f"the fenced process of {name} ended without an answer")


def _packages(root: Path) -> Iterator[str]:
    """Yield the folders of installed Python, without those that the project's folder is in."""
    for place in dict.fromkeys(sys.path):
        path = Path(place).resolve() if place else root
        if path.exists() and not root.is_relative_to(path):
            yield str(path)


def _own_code(settings: Settings) -> Iterator[str]:
    """Yield the paths that a process reads to find its functions."""
    yield from _packages(settings.root)
    cache = [settings.state / f"specs.{part}.json" for part in ("index", "payload")]
    definitions = [settings.root / name for name in (*settings.tools, *settings.skills)]
    own = [settings.file] if settings.file is not None else []
    yield from (str(path) for path in (*definitions, *own, *cache) if path.exists())


_OPEN: dict[Path, FencedFunctions] = {}


def fenced_functions(settings: Settings) -> FencedFunctions:
    """Return the fenced processes of a project, the same as long as its settings are."""
    known = _OPEN.get(settings.root)
    if known is None or known.settings != settings:
        if known is not None:
            known.close()
        known = _OPEN[settings.root] = FencedFunctions(settings)
    return known


def close(folder: Path) -> None:
    """End the fenced processes of a project that are idle."""
    if (known := _OPEN.pop(folder, None)) is not None:
        known.close()
