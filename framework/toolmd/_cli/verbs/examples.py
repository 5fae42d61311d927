"""`test`: run the examples of the tools' files as tests."""

from collections.abc import Sequence
from typing import Annotated, Any, NoReturn

import typer

from toolmd._cli.project.opening import named
from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.options import JsonOption, ProjectOption
from toolmd._cli.terminal.screen import busy, counted, err, out, out_json, paint, printable


def try_out(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME", help="Only these tools; default: all.", autocompletion=named
        ),
    ] = None,
    *,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Run the examples of the tools' files as tests.

    An example without Result or Error is checked like any call, but not run. An example with a
    Result must return exactly that, and one with an Error must return that code. If only a run can
    show it, the tool really runs, with a temporary state folder; its effects outside that folder
    (such as a message that it sends) are real. The test caller is confident, states the tool's
    keywords, and confirms.

    MCP servers and web services are never called: an example of their tools passes through all
    checks, and does not run.

    Exit codes: 1 an example fails; 5 unknown tool.
    """
    from toolmd._workspace.examples import try_examples

    with busy("Running the examples"):
        tried = try_examples(project, names or ())
    _show(tried, json=json)


def _show(tried: Sequence[Any], *, json: bool) -> NoReturn:
    """Show each example, and exit."""
    failed = sum(not one.passed for one in tried)
    if json:
        out_json([one.to_dict() for one in tried])
    else:
        for one in tried:
            out(_line(one))
        ended = f"{failed} failed" if failed else "all passed"
        none = "There are no examples. Write some below `## Examples` in a tool's file."
        err(f"{counted(len(tried), 'example')}, {ended}." if tried else none)
    raise typer.Exit(ExitCode.FINDINGS if failed else ExitCode.DONE)


def _line(one: Any) -> str:
    mark = paint("ok  ", "green") if one.passed else paint("FAIL", "red")
    title = f": {one.example}" if one.example else ""
    head = f"{mark}  {printable(one.tool + title)}"
    if one.passed:
        return f"{head} ({one.how})"
    return f"{head}\n      {printable(one.message)}"
