"""`test`: the Examples of the tools' files, run as tests."""

from typing import Annotated, Any

import typer

from toolmd._cli.project.opening import named
from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.options import JsonOption, ProjectOption, project_of
from toolmd._cli.terminal.screen import busy, counted, err, out, out_json, paint, printable


def add(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("test", rich_help_panel="Write")(try_out)


def try_out(
    ctx: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Only these tools; else all.", autocompletion=named),
    ] = None,
    *,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Run the examples of the tools' files as tests. Ends with 1 where one fails.

    An example without Result or Error is checked and judged like any call, and not run. One with
    a Result must give exactly that, and one with an Error that code: where only a run can tell,
    the tool is called for real, in a state folder of its own that is thrown away. What the tool
    reaches beside that folder (a message that it sends, a service) is real. The caller is a made
    one: sure, asking in the tool's own keywords, confirming what must be confirmed.
    """
    from toolmd._workspace.examples import try_examples

    with busy("Trying the examples"):
        tried = try_examples(project_of(ctx, project), names or ())
    failed = sum(not one.passed for one in tried)
    if json:
        out_json([one.to_dict() for one in tried])
    else:
        for one in tried:
            out(_line(one))
        ended = f"{failed} failed" if failed else "all passed"
        none = "There are no examples: those below `## Examples` of a tool's file are its tests."
        err(f"{counted(len(tried), 'example')}, {ended}." if tried else none)
    raise typer.Exit(ExitCode.FINDINGS if failed else ExitCode.DONE)


def _line(one: Any) -> str:
    mark = paint("ok  ", "green") if one.passed else paint("FAIL", "red")
    title = f": {one.example}" if one.example else ""
    head = f"{mark}  {printable(one.tool + title)}"
    if one.passed:
        return f"{head} ({one.how})"
    return f"{head}\n      {printable(one.message)}"
