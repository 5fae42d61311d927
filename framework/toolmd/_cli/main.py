"""The entry point `toolmd`: run one command, and return the exit code of each kind of error."""

import atexit
import errno
import gc
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import typer

from toolmd._cli.commands import COMMANDS, make_app
from toolmd._cli.terminal.crash import report_crash
from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.screen import complain, drop, errors_as_json, send_off
from toolmd._cli.terminal.usage import empty_in, is_usage, tell_usage
from toolmd.errors import ArgumentError, ConfigError, NotFoundError, ToolmdError, UnreachableError

# Nothing of a process that ends needs to be collected: to look at it all takes a tenth of a second.
atexit.register(gc.freeze)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return its exit code."""
    words = [_as_typed(word) for word in (sys.argv[1:] if arguments is None else arguments)]
    if sys.stdin is None:  # closed by the shell: `<&-`
        sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115  # lasts
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the shell: `>&-`
            setattr(sys, name, Path(os.devnull).open("w", 1, "utf-8"))  # noqa: SIM115  # lasts
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    with errors_as_json(words):
        code = _ended(words)
        try:
            send_off()
        except OSError as error:
            return _told_of_place(error)
        return code


def _ended(words: Sequence[str]) -> int:
    own = any(name in words for commands in COMMANDS.values() for name in commands)
    if own and (what := empty_in(words)):  # a plugin's command may have another meaning for it
        complain(ExitCode.USAGE, f"{what} is empty", "write a value, or leave it out")
        return ExitCode.USAGE
    try:
        code: object = make_app()(words, prog_name="toolmd", standalone_mode=False)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception as error:  # noqa: BLE001  # a crash shows a reference, not a trace
        return _code_of(error)
    return code if isinstance(code, int) and not isinstance(code, bool) else ExitCode.DONE


def _code_of(error: Exception) -> int:
    """Report what ended a command, and return its exit code."""
    match error:
        case ToolmdError():
            return _told(error)
        case _ if _began_with_ctrl_c(error):
            return ExitCode.INTERRUPTED
        case OSError() if error.filename is not None or error.errno == errno.ENOSPC:
            return _told_of_place(error)
        case typer.Abort():
            complain(ExitCode.FINDINGS, "the input ended before the question was answered")
            return ExitCode.FINDINGS
        case _ if is_usage(error):
            return tell_usage(error)
    return report_crash("".join(traceback.format_exception(error)))


def _began_with_ctrl_c(error: BaseException) -> bool:
    """Check whether the error came while a KeyboardInterrupt ended the command.

    Python itself raises such errors: a Ctrl-C while a thread starts becomes "release unlocked
    lock".
    """
    before = error.__context__
    return before is not None and (
        isinstance(before, KeyboardInterrupt) or _began_with_ctrl_c(before)
    )


def _as_typed(word: str) -> str:
    """Decode a word as UTF-8 when Python, in the locale C, could not."""
    if word.isascii():
        return word
    try:
        return os.fsencode(word).decode()
    except UnicodeError:
        return word


_REMEDIES = {
    errno.ENOSPC: "free some space there",
    errno.EDQUOT: "free some space there",
    errno.EFBIG: "the file is too large there: raise the limit (`ulimit -f`) or free some space",
    errno.EROFS: "that place is read-only; TOOLMD_STATE=DIR stores the state in another folder",
    errno.ENOENT: "create it first, or name another place",
    errno.EEXIST: "a file is in the place of a folder: move it away",
    errno.ENOTDIR: "a file is in the place of a folder: move it away",
    errno.EISDIR: "a folder is in the place of a file: move it away",
}


def _told_of_place(error: OSError) -> ExitCode:
    """Report an error of the operating system, and its place."""
    if error.filename is None:
        drop(sys.stdout)
    help_ = _REMEDIES.get(error.errno or 0, "check the permissions of this path")
    complain(ExitCode.FINDINGS, f"{error.filename or 'standard output'}: {error.strerror}", help_)
    return ExitCode.FINDINGS


_TYPED = {
    "confirmation_id": "the ID",
    "run_id": "the ID",
    "name": "the name",
    "names": "the names",
    "tool": "the name",
    "skill": "the name",
}
"""Python's parameters that are words of a command; any other parameter is an option."""


def _told(error: ToolmdError) -> ExitCode:
    code, what = ExitCode.FINDINGS, str(error)
    match error:
        case ArgumentError():
            code = ExitCode.USAGE
            typed = _TYPED.get(error.parameter, f"--{error.parameter.replace('_', '-')}")
            what = f"{typed} {error.problem.replace(' or None', '')}"
        case ConfigError():
            code = ExitCode.USAGE
        case NotFoundError() | UnreachableError():
            code = ExitCode.NOT_FOUND
    complain(code, what)
    return code
