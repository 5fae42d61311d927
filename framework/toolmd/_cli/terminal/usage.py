"""Report a wrong command line in the form of every other error."""

from collections.abc import Sequence
from typing import Any

import typer

from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.screen import complain, err

_MOST_NAMED = 12
"""The most commands of a group that an error names."""
_MAY_BE_EMPTY = frozenset(("--message", "--system", "--args-json", "--input-json"))


def empty_in(words: Sequence[str]) -> str:
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


def is_usage(error: Exception) -> bool:
    """Check for a usage error of Typer, which exports only a subclass of that error."""
    return isinstance(error, typer.BadParameter.__mro__[1])


def tell_usage(error: Any) -> int:
    """Report the error and the command's usage; return the exit code."""
    context = error.ctx
    said = error.format_message()
    if context is not None and said == context.get_help():
        err(said)  # a group without a command: show its help
        return ExitCode.USAGE
    what, help_ = _parted(said)
    if context is not None and not help_:
        commands = getattr(context.command, "commands", {})
        if commands and len(commands) <= _MOST_NAMED:
            named = f"the commands of `{context.command_path}` are {', '.join(commands)}"
            complain(ExitCode.USAGE, what, named)
            return ExitCode.USAGE
        usage = " ".join(context.get_usage().split()).removeprefix("Usage: ")
        help_ = f"write {usage}; `{context.command_path} -h` shows more"
    complain(ExitCode.USAGE, what, help_)
    return ExitCode.USAGE


def _parted(said: str) -> tuple[str, str]:
    """Split Typer's message into the error, in our form, and the suggestion after it."""
    what, _, near = said.replace("Value error, ", "").partition(" Did you mean ")
    what, _, others = what.partition(" (Possible options: ")
    what = what.strip().removesuffix(".")
    suggested = near or others.removesuffix(")")
    question = f"did you mean {suggested.removesuffix('?')}?" if suggested else ""
    return what[:1].lower() + what[1:], question
