"""A terminal of its own for a command, and a person who types when something is shown."""

import os
import pty
import select
import sys
from pathlib import Path
from time import monotonic

from tests import warm_python

TIMEOUT_S = 60.0
AGAIN_S = 3.0

TAKE = (
    "import fcntl, runpy, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "runpy.run_module('toolmd', run_name='__main__', alter_sys=True)"
)
"""A program that takes the terminal, and then is `toolmd`."""


class Terminal:
    """Runs `toolmd` with some words; `wait` until something is shown, then `type`."""

    def __init__(self, folder: Path, *words: str, **environ: str) -> None:
        self.shown = ""
        self._seen = 0
        settings = {"TERM": "dumb", "TOOLMD_LOAD_PLUGINS": "", "INPUTRC": "/dev/null", **environ}
        self._terminal, theirs = pty.openpty()
        self._process = warm_python.Popen(
            [sys.executable, "-c", TAKE, *words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=folder,
            env=os.environ | settings,
            start_new_session=True,
        )
        os.close(theirs)

    def wait(self, text: str) -> None:
        """Read until `text` was shown after what was waited for before."""
        until = monotonic() + TIMEOUT_S
        while text not in self.shown[self._seen :]:
            assert monotonic() < until, f"{text!r} never came in {self.shown!r}"
            assert self._read(), f"{text!r} did not come in {self.shown!r}"
        self._seen = self.shown.index(text, self._seen) + len(text)

    def type(self, line: str) -> None:
        """Type a line."""
        os.write(self._terminal, line.encode() + b"\n")

    def press(self, key: str) -> None:
        """Press C or D while Control is held."""
        os.write(self._terminal, bytes([ord(key) - 64]))

    def press_until(self, key: str, text: str) -> None:
        """Press a key as a person does: again where nothing came of it for a while."""
        until = monotonic() + TIMEOUT_S
        while text not in self.shown[self._seen :]:
            assert monotonic() < until, f"{text!r} never came in {self.shown!r}"
            self.press(key)
            while text not in self.shown[self._seen :]:
                if not select.select([self._terminal], [], [], AGAIN_S)[0]:
                    break
                self._read()
        self._seen = self.shown.index(text, self._seen) + len(text)

    def press_until_end(self, key: str) -> int:
        """Press a key until it has an effect, and return the exit status.

        Python misses a Ctrl-C that comes just before it begins to wait for input.
        """
        until = monotonic() + TIMEOUT_S
        while monotonic() < until:
            self.press(key)
            # The terminal itself shows the key, so only the end counts.
            while select.select([self._terminal], [], [], AGAIN_S)[0]:
                if not self._read():
                    return self._ended()
        return self.end()

    def end(self) -> int:
        """Read to the end and return the exit status."""
        until = monotonic() + TIMEOUT_S
        while self._read():
            if monotonic() > until:
                self._process.kill()
                raise AssertionError(f"it does not end: {self.shown!r}")
        return self._ended()

    def _ended(self) -> int:
        os.close(self._terminal)
        return self._process.wait(TIMEOUT_S)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._terminal], [], [], TIMEOUT_S)
        assert ready, f"nothing more came after {self.shown!r}"
        try:
            chunk = os.read(self._terminal, 4096)
        except OSError:
            return False
        self.shown += chunk.decode(errors="replace").replace("\r\n", "\n")
        return bool(chunk)
