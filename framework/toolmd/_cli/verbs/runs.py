"""Runs of skills: run, and runs with show, resume, cancel and resolve."""

import datetime as dt
import sys
from functools import partial
from json import dumps
from typing import Annotated, Any

import typer

from toolmd._cli.frame import (
    Answer,
    CallerOptions,
    ConfidenceOption,
    ExitCode,
    WordsArgument,
    YesOption,
    ask_agreement,
    read_arguments,
    stop,
)
from toolmd._cli.names import complete_names, known_skill
from toolmd._cli.screen import Paint, err, interactive, paint, printable, table

PAGE = 50
"""The default number of runs in a list."""
IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The run; `toolmd runs` lists them.")]


def run(
    workspace: Any,
    skill: Annotated[
        str, typer.Argument(metavar="SKILL", help="The skill.", autocompletion=complete_names)
    ],
    words: WordsArgument = None,
    *,
    input_json: Annotated[
        str | None, typer.Option(metavar="JSON", help="All inputs as one JSON object.")
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Only schedule it: `now`, `in 2h`, `2026-05-04T18:30`, or with a zone.",
        ),
    ] = None,
    confidence: ConfidenceOption = None,
    caller: CallerOptions,
    yes: YesOption = False,
    json: bool,
) -> Answer:
    """Run a skill, and show its steps as they happen.

    With --json, the result goes to stdout, and the events of the steps go to stderr as JSON lines.
    With --at, a process that executes runs starts it then; `toolmd runs` lists it as scheduled, and
    `toolmd runs cancel` cancels it. Exit codes: 0 done or scheduled, 1 stopped or failed, 3 denied,
    4 a question was not answered, 5 unknown skill.
    """
    from toolmd._cli.results import run_answer, warn_of_earlier

    begins = None if at is None else _future(at)
    bound = known_skill(workspace, skill)
    spec, stored = bound.spec, workspace.settings.store != "memory" and bound.spec.durable
    if begins is not None and not stored:
        help_ = 'set store = "sqlite", and remove **Durable** from the skill'
        stop(ExitCode.USAGE, f"a run of {bound.name} ends with this process", help_)
    warn_of_earlier(workspace, [bound.name, *spec.required_tools, *spec.required_skills])
    inputs = read_arguments(words, input_json, spec.parameters, "--input-json")
    stated = {"confidence": confidence, **caller.arguments()}
    if begins is not None:
        told = run_answer(workspace.run_sync(bound.name, inputs, **stated, at=begins))
        return told._replace(text=told.value.get("run_id"))
    ask, on_event = partial(_answer, yes=yes), partial(_show, json=json)
    result = workspace.run_sync(bound.name, inputs, **stated, ask=ask, on_event=on_event)
    return run_answer(result, stored=stored)


def _answer(question: Any, *, yes: bool) -> bool | None:
    """Answer a run's question: by --yes, on the terminal, or not at all (None).

    Only a person knows whether an interrupted call took effect, so --yes does not answer that.
    """
    if question.asks_outcome and question.saves is not None:
        return None  # It needs the result of the call, too.
    yes = yes and not question.asks_outcome
    return ask_agreement(question.prompt, yes=yes) if yes or interactive() else None


_MARKS: dict[str, tuple[str, Paint]] = {
    "done": ("done", "green"),
    "skipped": ("skip", "dim"),
    "failed": ("fail", "red"),
    "undone": ("undo", "yellow"),
    "kept": ("kept", "yellow"),
    "progress": ("  ..", "dim"),
}


def _show(event: Any, *, json: bool) -> None:
    """Write the event of a run to stderr: a line for each step that ends, or each as JSON."""
    if json:
        err(dumps(event.to_dict(), ensure_ascii=False))
        sys.stderr.flush()
    elif event.kind in _MARKS:
        word, how = _MARKS[event.kind]
        text = f": {event.text}" if event.text else ""
        err(f"{paint(word, how, sys.stderr)}  {event.step}  {printable(event.title + text)}")


def _future(text: str) -> dt.datetime:
    from toolmd._cli.arguments import future

    try:
        return future(text)
    except ValueError as error:
        help_ = "write `in 2h`, `2026-05-04T18:30`, or `2026-05-04T18:30Z`"
        stop(ExitCode.USAGE, f"--at {error}", help_)


def runs(
    workspace: Any,
    *,
    limit: Annotated[
        int, typer.Option(min=1, help="The most runs to list; a shorter list is the last page.")
    ] = PAGE,
    after: Annotated[
        str | None, typer.Option(metavar="ID", help="The last run of the previous page.")
    ] = None,
) -> Answer:
    """List the stored runs of skills, the newest first."""
    views = workspace.runs.list_sync(limit=limit, after=after)
    if not views:
        none = "No runs are stored." if after is None else f"No run is older than {after}."
        return Answer([], lines=[none])
    rows = [(view.id, view.skill, view.state, view.began[:19], _message(view)) for view in views]
    more = [f"help: toolmd runs --after {views[-1].id} lists older ones"]
    return Answer(
        [view.to_dict() for view in views],
        table(("ID", "SKILL", "STATE", "BEGAN (UTC)", "MESSAGE"), rows),
        more if len(views) == limit else (),
    )


def _message(view: Any) -> str:
    if view.result is not None:
        return printable(view.result.message)
    return printable(view.questions[0].prompt) if view.questions else ""


def show_run(workspace: Any, run_id: IdArgument) -> Answer:
    """Show a run step by step. Exit code 5: unknown run."""
    from toolmd._cli.results import record_words

    view = workspace.runs.get_sync(run_id)
    lines = [f"{view.id}  {view.skill}  {view.state}"]
    for entry in view.entries:
        step, outcome = record_words(entry)
        lines.append(f"  {entry.at[:19]}  {printable(step)}  {outcome}")
    for question in view.questions:
        what = "waits for" if question.asks else "waits"
        lines.append(f"  {what}  {view.id}/{question.key}  {printable(question.prompt)}")
    if view.result is not None:
        lines.append(f"  {printable(view.result.message)}")
    return Answer(view.to_dict(), "\n".join(lines))


def resume(workspace: Any, run_id: IdArgument, *, yes: YesOption = False, json: bool) -> Answer:
    """Resume a run that waits, and ask its question.

    Exit codes: 0 done, 1 stopped or failed, 3 denied, 4 a question was not answered, 5 unknown
    run.
    """
    from toolmd._cli.results import run_answer

    ask, on_event = partial(_answer, yes=yes), partial(_show, json=json)
    return run_answer(workspace.runs.resume_sync(run_id, ask=ask, on_event=on_event))


def cancel(workspace: Any, run_id: IdArgument) -> Answer:
    """Stop a run before its next call, and undo its completed steps.

    Exit codes: 0 cancelled, 1 it had already ended, 4 an undo needs a confirmation, 5 unknown run.
    """
    from toolmd._cli.results import run_answer

    result = workspace.runs.cancel_sync(run_id)
    if result.error is None and not result.success:
        return run_answer(result)
    cancelled = result.error is not None and result.error.code == "cancelled"
    code = ExitCode.DONE if cancelled else ExitCode.FINDINGS
    return Answer(result.to_dict(), lines=[printable(result.message)], code=code)


def resolve(
    workspace: Any,
    run_id: IdArgument,
    *,
    done: Annotated[bool, typer.Option("--done", help="The call took effect.")] = False,
    not_done: Annotated[
        bool, typer.Option("--not-done", help="It did not: call it again.")
    ] = False,
    result: Annotated[
        str | None, typer.Option(metavar="JSON", help="With --done: what the call returned.")
    ] = None,
) -> Answer:
    """State whether a call took effect, and resume its run.

    Only needed if the process died during a call of a tool that is neither Read Only nor
    Idempotent; --not-done calls it again. Where a later step reads the result of the call, --done
    needs --result. Exit codes: 0 done, 1 stopped or failed, 3 denied, 4 a question was not
    answered, 5 no such run, or it has no uncertain call.
    """
    from toolmd._cli.results import run_answer
    from toolmd._types.run import Answer as RunAnswer

    if done == not_done:
        stop(
            ExitCode.USAGE, "state either --done or --not-done", "`--not-done` calls the tool again"
        )
    asked = workspace.runs.get_sync(run_id).questions
    keys = [question.key for question in asked if question.asks_outcome]
    if not keys:
        help_ = (
            f"toolmd runs show {run_id} lists its questions; toolmd runs resume {run_id} asks "
            "about calls that were interrupted"
        )
        stop(ExitCode.NOT_FOUND, f"run {run_id} has no uncertain call", help_)
    if result is not None and not done:
        stop(ExitCode.USAGE, "--result is for --done", "--not-done calls the tool again")
    answer = RunAnswer(approved=done, text=result)
    return run_answer(workspace.runs.answer_sync(run_id, answer, key=keys[0]))
