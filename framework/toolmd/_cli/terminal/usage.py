"""Tell what is wrong with a command line, in the form of every other error."""

from typing import Any

import typer

from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.screen import complain, err


def is_usage(error: Exception) -> bool:
    """Tell whether Typer raised it for wrong words; of its base class it names only a child."""
    return isinstance(error, typer.BadParameter.__mro__[1])


def tell_usage(error: Any) -> int:
    """Say what is wrong, and how the command is written; give the exit code."""
    context = error.ctx
    said = error.format_message()
    if context is not None and said == context.get_help():
        err(said)  # a group without a command: its help is the remedy
        return ExitCode.USAGE
    what, help_ = _parted(said)
    if context is not None and not help_:
        usage = " ".join(context.get_usage().split()).removeprefix("Usage: ")
        help_ = f"write {usage}; `{context.command_path} -h` tells more"
    complain(what, help_)
    return ExitCode.USAGE


def _parted(said: str) -> tuple[str, str]:
    """Give what is wrong as the other errors say it, and the suggestion that stood behind it."""
    what, _, near = said.replace("Value error, ", "").partition(" Did you mean ")
    what, _, others = what.partition(" (Possible options: ")
    what = what.strip().removesuffix(".")
    suggested = near or others.removesuffix(")")
    question = f"did you mean {suggested.removesuffix('?')}?" if suggested else ""
    return what[:1].lower() + what[1:], question
