"""The entry point `toolmd`: run one command, and return the exit code of each kind of error."""

import atexit
import errno
import gc
import logging
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from toolmd._cli.commands import OWN, make_app
from toolmd._cli.frame import ExitCode, complain
from toolmd._cli.screen import DEBUG, drop, err, errors_as_json, send_off
from toolmd.errors import ArgumentError, ConfigError, NotFoundError, ToolmdError, UnreachableError

# Nothing of a process that ends needs to be collected: to look at it all takes a tenth of a second.
atexit.register(gc.freeze)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return its exit code."""
    words = [*(sys.argv[1:] if arguments is None else arguments)]
    if sys.stdin is None:  # closed by the shell: `<&-`
        sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115  # lasts
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the shell: `>&-`
            setattr(sys, name, Path(os.devnull).open("w", 1, "utf-8"))  # noqa: SIM115  # lasts
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    with errors_as_json(words), _without_log_of_files():
        code = _run(words)
        try:
            send_off()
        except OSError as error:
            return _report_place(error)
        return code


@contextmanager
def _without_log_of_files() -> Iterator[None]:
    """Leave the problems of files to the commands, which print them."""
    log = logging.getLogger("toolmd.files")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


def _run(words: Sequence[str]) -> int:
    own = any(name in words for name in OWN)
    if own and (what := _empty_in(words)):  # a plugin's command may have another meaning for it
        complain(ExitCode.USAGE, f"{what} is empty", "write a value, or leave it out")
        return ExitCode.USAGE
    try:
        code: object = make_app()(words, prog_name="toolmd", standalone_mode=False)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception as error:  # noqa: BLE001  # a crash shows a reference, not a trace
        return _report(error)
    return code if isinstance(code, int) and not isinstance(code, bool) else ExitCode.DONE


def _report(error: Exception) -> int:
    """Report what ended a command, and return its exit code."""
    match error:
        case ToolmdError():
            return _report_own(error)
        case _ if _began_with_ctrl_c(error):
            return ExitCode.INTERRUPTED
        case OSError() if error.filename is not None or error.errno == errno.ENOSPC:
            return _report_place(error)
        case typer.Abort():
            complain(ExitCode.FINDINGS, "the input ended before the question was answered")
            return ExitCode.FINDINGS
        case _ if isinstance(error, _USAGE_ERROR):
            return _report_usage(error)
    return _report_crash("".join(traceback.format_exception(error)))


_USAGE_ERROR = typer.BadParameter.__mro__[1]
"""The usage error of Typer, which exports only a subclass of that error."""


def _began_with_ctrl_c(error: BaseException) -> bool:
    """Check whether the error came while a KeyboardInterrupt ended the command.

    Python itself raises such errors: a Ctrl-C while a thread starts becomes "release unlocked
    lock".
    """
    before = error.__context__
    return before is not None and (
        isinstance(before, KeyboardInterrupt) or _began_with_ctrl_c(before)
    )


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


def _report_place(error: OSError) -> ExitCode:
    """Report an error of the operating system, and its place."""
    if error.filename is None:
        drop(sys.stdout)
    help_ = _REMEDIES.get(error.errno or 0, "check the permissions of this path")
    complain(ExitCode.FINDINGS, f"{error.filename or 'standard output'}: {error.strerror}", help_)
    return ExitCode.FINDINGS


def _report_own(error: ToolmdError) -> ExitCode:
    code, what = ExitCode.FINDINGS, str(error)
    match error:
        case ArgumentError():
            code = ExitCode.USAGE
            what = f"--{error.parameter} {error.problem}"
        case ConfigError():
            code = ExitCode.USAGE
        case NotFoundError() | UnreachableError():
            code = ExitCode.NOT_FOUND
    complain(code, what)
    return code


_MOST_NAMED = 12
"""The most commands of a group that an error names."""
_MAY_BE_EMPTY = frozenset(("--message", "--system", "--args-json", "--input-json"))


def _empty_in(words: Sequence[str]) -> str:
    """Return which value of a command line is empty, mostly by a variable that is not set.

    An empty path would mean the current folder, and an empty host every address of this machine.
    """
    before = ""
    for word in words:
        if word == "--":  # the command of a server follows
            return ""
        ends = word.startswith("--") and word.find("=") == len(word) - 1
        option = word[:-1] if ends else before
        if (ends or not word) and option not in _MAY_BE_EMPTY:
            return f"the value of {option}" if option.startswith("-") else "an argument"
        before = word
    return ""


def _report_usage(error: Any) -> int:
    """Report a wrong command line and the command's usage."""
    context, message = error.ctx, error.format_message()
    if context is not None and message == context.get_help():
        err(message)  # a group without a command: show its help
        return ExitCode.USAGE
    # Typer writes its suggestion behind the error.
    what, _, near = message.replace("Value error, ", "").partition(" Did you mean ")
    what, _, others = what.partition(" (Possible options: ")
    what = what.strip().removesuffix(".")
    suggested = near or others.removesuffix(")")
    help_ = f"did you mean {suggested.removesuffix('?')}?" if suggested else ""
    if context is not None and not help_:
        commands = getattr(context.command, "commands", {})
        if commands and len(commands) <= _MOST_NAMED:
            help_ = f"the commands of `{context.command_path}` are {', '.join(commands)}"
        else:
            usage = " ".join(context.get_usage().split()).removeprefix("Usage: ")
            help_ = f"write {usage}; `{context.command_path} -h` shows more"
    complain(ExitCode.USAGE, what[:1].lower() + what[1:], help_)
    return ExitCode.USAGE


def _report_crash(trace: str) -> ExitCode:
    """Store the trace under a reference, and report its place."""
    # Imported here: commands that do not crash start faster without them.
    import secrets
    import tempfile

    if os.environ.get(DEBUG):
        sys.stderr.write(trace)
    reference = secrets.token_hex(4)
    try:
        log = Path(tempfile.mkdtemp(prefix="toolmd-"), f"crash-{reference}.log")
        log.write_text(trace, "utf-8")
        place = f"The trace is in {log}."
    except OSError as error:
        place = f"The trace could not be stored ({error}); {DEBUG}=1 shows it."
    what = f"Toolmd itself failed (reference {reference}). {place}"
    help_ = f"run it again with {DEBUG}=1 to see more, and report it with that log"
    complain(ExitCode.INTERNAL, what, help_)
    return ExitCode.INTERNAL
