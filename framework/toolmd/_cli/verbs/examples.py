"""`test`: run the examples of the tools' files as tests."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from toolmd._cli.frame import ExitCode, JsonOption, ProjectOption, stop
from toolmd._cli.names import named
from toolmd._cli.screen import busy, counted, err, out, out_json, paint, printable


def try_out(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME", help="Only these tools; default: all.", autocompletion=named
        ),
    ] = None,
    *,
    transcript: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="Replay this record of `toolmd chat` instead; may be repeated."
        ),
    ] = None,
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

    With --transcript, recorded replies of a model and decisions of a person pass through all
    checks again, and nothing runs. Each call must be allowed, denied or pending as before.

    Exit codes: 1 an example fails, or a transcript differs; 5 unknown tool.
    """
    if transcript and names:
        stop(ExitCode.USAGE, "--transcript replays whole conversations", "name no tools")
    if transcript:
        _replay(project, transcript, json=json)
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


def _replay(folder: Path | None, files: list[Path], *, json: bool) -> NoReturn:
    """Replay transcripts, show each reply, and exit."""
    from toolmd._chat.replay import replay
    from toolmd._cli.terminal.prompts import decision_of

    with busy("Replaying"):
        replayed = [one for file in files for one in replay(folder, file, decision_of)]
    if json:
        out_json([one.to_dict() for one in replayed])
    else:
        for one in replayed:
            skipped = one.how == "hidden"
            mark = (
                "skip"
                if skipped
                else paint("ok  ", "green")
                if one.passed
                else paint("FAIL", "red")
            )
            out(f"{mark}  {printable(one.place)}: {printable(one.message)}")
    failed = sum(not one.passed for one in replayed)
    if not json:
        ended = f"{failed} different" if failed else "all as recorded"
        err(f"{len(replayed)} replies and decisions, {ended}.")
    raise typer.Exit(ExitCode.FINDINGS if failed else ExitCode.DONE)


def _line(one: Any) -> str:
    mark = paint("ok  ", "green") if one.passed else paint("FAIL", "red")
    title = f": {one.example}" if one.example else ""
    head = f"{mark}  {printable(one.tool + title)}"
    if one.passed:
        return f"{head} ({one.how})"
    return f"{head}\n      {printable(one.message)}"
