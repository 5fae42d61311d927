"""What was given with a verb: arguments in one of their forms, and a yes."""

from typing import Any

from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.options import stop
from toolmd._cli.terminal.screen import ask, err, interactive, printable, read_stdin


def given_arguments(words: list[str], text: str | None, parameters: Any, option: str) -> Any:
    """Give the arguments as an object, or as JSON text for the door to read."""
    from toolmd._cli.terminal.arguments import ArgumentFormError, typed_arguments

    if words == ["-"] or text == "-":
        return read_stdin("the arguments as JSON")
    if text is not None:
        if words:
            stop(ExitCode.USAGE, f"{option} and key=value at once", "give one of the two")
        return text
    try:
        return typed_arguments(words, parameters)
    except ArgumentFormError as error:
        names = [f"{parameter.name}=…" for parameter in parameters] or ["key=value"]
        stop(ExitCode.USAGE, str(error), f"write {' '.join(names)}, or {option} '{{…}}'")


def agreed(prompt: str, *, yes: bool) -> bool:
    """Tell whether a person agrees: by --yes, or asked on the terminal."""
    if yes:
        err(f"{printable(prompt)} yes (--yes)")
        return True
    return interactive() and ask(printable(prompt))
