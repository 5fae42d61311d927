"""Read the arguments and the agreement that the user states with a command."""

from typing import Any

from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.options import stop
from toolmd._cli.terminal.screen import ask, err, interactive, printable, read_stdin


def given_arguments(words: list[str], text: str | None, parameters: Any, option: str) -> Any:
    """Return the arguments as an object, or as JSON text for the dispatcher to parse."""
    from toolmd._cli.terminal.arguments import ArgumentFormError, typed_arguments

    if text is not None and words:
        other = "-" if words == ["-"] else "key=value"
        stop(ExitCode.USAGE, f"{option} and {other} at once", "use one of the two")
    if words == ["-"] or text == "-":
        return read_stdin("the arguments as JSON")
    if text is not None:
        return text
    try:
        return typed_arguments(words, parameters)
    except ArgumentFormError as error:
        names = [f"{parameter.name}=…" for parameter in parameters] or ["key=value"]
        stop(ExitCode.USAGE, str(error), f"write {' '.join(names)}, or {option} '{{…}}'")


def agreed(prompt: str, *, yes: bool) -> bool:
    """Return whether a person agrees: by --yes, or by an answer on the terminal."""
    if yes:
        err(f"{printable(prompt)} yes (--yes)")
        return True
    return interactive() and ask(printable(prompt))
