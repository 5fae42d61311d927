"""Write to the two streams: data to stdout, everything else and log records to stderr."""

import json
import logging
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Literal, TextIO
from unicodedata import category, east_asian_width

from toolmd._types.visible import visible
from toolmd.errors import ImplementationError

DEBUG = "TOOLMD_DEBUG"
"""The variable that shows whole traces on the screen."""

Paint = Literal["bold", "dim", "red", "green", "yellow", "cyan"]
_CODES: dict[Paint, int] = {
    "bold": 1,
    "dim": 2,
    "red": 31,
    "green": 32,
    "yellow": 33,
    "cyan": 36,
}


_kept: list[TextIO] = []
_errors_as_json: ContextVar[bool] = ContextVar("toolmd_errors_as_json", default=False)


def stdout() -> TextIO:
    """Return the stream for data."""
    return _kept[0] if _kept else sys.stdout


@contextmanager
def stdout_for_data() -> Iterator[None]:
    """Reserve stdout for data: prints of the project's own Python go to stderr."""
    _kept.append(stdout())
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _kept.pop()


def out(text: str = "") -> None:
    """Write a line of data."""
    _write(stdout(), text + "\n")


def out_json(value: Any) -> None:
    """Write data as JSON."""
    out(as_json(value))


def as_json(value: Any) -> str:
    """Return a value as JSON that stdout can hold."""
    # Another encoding would write letters as escapes that JSON does not know.
    utf8 = (stdout().encoding or "utf-8").lower().replace("-", "") == "utf8"
    return json.dumps(value, ensure_ascii=not utf8, indent=2)


def err(text: str = "") -> None:
    """Write a line to stderr, after the data that stdout received before."""
    send_off()
    _write(sys.stderr, text + "\n")


def send_off() -> None:
    """Flush stdout; raise OSError if the disk is full."""
    try:
        stdout().flush()
    except BrokenPipeError:
        drop(stdout())


def drop(stream: TextIO) -> None:
    """Discard everything that is written to a stream from now on."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
    except BrokenPipeError:
        # The reader, such as `head`, has enough; the command still ends normally.
        drop(stream)


@contextmanager
def errors_as_json(words: Sequence[str]) -> Iterator[None]:
    """Let errors also go to stdout as JSON, if the words of a command ask for JSON."""
    options = words[: words.index("--")] if "--" in words else words
    # Joined, since the form may stand behind a space or a "=".
    asks = "--json" in options or "--output-format=json" in "=".join(options)
    token = _errors_as_json.set(asks)
    try:
        yield
    finally:
        _errors_as_json.reset(token)


def complain(code: str, what: str, help_: str = "") -> None:
    """Write an error and its remedy to stderr; with --json, also to stdout as a line of JSON."""
    err(f"{paint('error', 'red', sys.stderr)}: {what}")
    if help_:
        err(help_line(help_))
    if _errors_as_json.get():
        error = {"code": code, "message": what} | ({"help": help_} if help_ else {})
        out(json.dumps({"success": False, "error": error}))


def help_line(remedy: str) -> str:
    """Return the line that tells a remedy."""
    return f"{paint('help', 'cyan', sys.stderr)}: {remedy}"


def paint(text: str, how: Paint, stream: TextIO | None = None) -> str:
    """Colour text for a terminal; elsewhere, and under NO_COLOR, return it unchanged."""
    return f"\x1b[{_CODES[how]}m{text}\x1b[0m" if colourful(stream or stdout()) else text


def colourful(stream: TextIO) -> bool:
    """Check whether a stream accepts colours."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def interactive() -> bool:
    """Check whether a person can answer questions here."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(question: str) -> bool:
    """Ask a person on the terminal; Enter means no."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    answer = sys.stdin.readline()
    if not answer:
        err()
    return answer.strip().casefold() in {"y", "yes"}


def read_stdin(what: str, most: int = -1) -> bytes:
    """Read at most `most` bytes of stdin; on a terminal, first print what is expected."""
    if sys.stdin.isatty():
        err(f"Write {what}, and end it with Ctrl-D.")
    return sys.stdin.buffer.read(most)


def printable(text: str) -> str:
    """Replace what can't be seen by its code point: a file's text must not steer a terminal."""
    return "\t".join(map(visible, text.replace("\n", " ").split("\t")))


def for_people(text: str) -> str:
    """Return a text of several lines, on a terminal without control characters."""
    return "\n".join(map(printable, text.split("\n"))) if stdout().isatty() else text


def plural(number: int, thing: str) -> str:
    """Return `1 file`, `2 files`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def width(text: str) -> int:
    """Return the number of columns that the text needs on a terminal."""
    return sum(
        0 if category(c) in {"Mn", "Me", "Cf"} else 2 if east_asian_width(c) in "WF" else 1
        for c in text
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return aligned columns; the last one is cut at the terminal's width."""
    cells = [tuple(head), *(tuple(" ".join(cell.split()) for cell in row) for row in rows)]
    widths = [max(width(row[i]) for row in cells) for i in range(len(head) - 1)]
    room = _columns() - sum(widths) - 2 * len(widths)
    lines = []
    for number, row in enumerate(cells):
        fixed = "".join(
            cell + " " * (size - width(cell) + 2)
            for cell, size in zip(row[:-1], widths, strict=True)
        )
        line = (fixed + _cut(row[-1], room)).rstrip()
        lines.append(paint(line, "bold") if number == 0 else line)
    return "\n".join(lines)


def _columns() -> int:
    if not stdout().isatty():
        return sys.maxsize
    return os.get_terminal_size(stdout().fileno()).columns


def _cut(text: str, room: int) -> str:
    if width(text) <= room or room < 1:
        return text
    while text and width(text) >= room:
        text = text[:-1]
    return text.rstrip() + "…"


@contextmanager
def log_in_lines() -> Iterator[None]:
    """Write each record to stderr as a line: the error, its reason, and the line of Python."""
    handler = _Lines()
    logger = logging.getLogger("toolmd")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


class _Lines(logging.Handler):
    shown = False

    def emit(self, record: logging.LogRecord) -> None:
        if os.environ.get(DEBUG):
            err(logging.Formatter().format(record))
            return
        text = record.getMessage()
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, ImplementationError):
            return  # the result contains all of it
        if error is not None:
            text += f": {type(error).__name__}: {error}".removesuffix(": ") + _place(error)
        err(f"{paint('log', 'dim', sys.stderr)}: {printable(text)}")
        if error is not None and not self.shown:
            self.shown = True
            err(help_line(f"{DEBUG}=1 shows the whole trace"))


def _place(error: BaseException) -> str:
    """Return the deepest line of the project's own Python, below the current folder."""
    here = Path.cwd()
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path.is_relative_to(here) and not {"site-packages", ".venv", "venv"} & {*path.parts}:
            return f" ({path.relative_to(here)}:{frame.lineno})"
    return ""
