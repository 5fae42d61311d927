"""`runs`: list the runs of skills, and start, show, resume and stop them."""

import sys
from json import dumps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolmd._cli.project.identified import run_of
from toolmd._cli.project.opening import known_skill, named, open_workspace
from toolmd._cli.reports.drawing import drawable, drawn
from toolmd._cli.reports.records import recorded
from toolmd._cli.reports.run_end import end_run, show_skill_result
from toolmd._cli.reports.steps import Steps, answer, steps_of
from toolmd._cli.terminal.context import given_arguments
from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.moment import moment
from toolmd._cli.terminal.options import (
    ConfidenceOption,
    ContextOption,
    InputOption,
    JsonOption,
    MessageOption,
    OutputOption,
    ProjectOption,
    SvgOption,
    UserOption,
    WordsArgument,
    YesOption,
    context_of,
    stop,
)
from toolmd._cli.terminal.screen import err, out, out_json, printable, stdout, table

if TYPE_CHECKING:
    # `--help` must not import the model.
    from toolmd._types.run import RunTrace

PAGE = 50
"""The default number of runs in a list."""
RunIdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="The run; `toolmd runs` lists them.")
]
GROUP = typer.Typer(rich_markup_mode=None)


@GROUP.callback(invoke_without_command=True)
def runs(
    ctx: typer.Context,
    *,
    limit: Annotated[
        int, typer.Option(min=1, help="The most runs to list; a shorter list is the last page.")
    ] = PAGE,
    after: Annotated[
        str | None, typer.Option(metavar="ID", help="The last run of the previous page.")
    ] = None,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """List the stored runs of skills, the newest first."""
    if ctx.invoked_subcommand is not None:
        return
    with open_workspace(project) as workspace:
        views = workspace.runs.list_sync(limit=limit, after=after)
    if json:
        out_json([view.to_dict() for view in views])
        return
    if not views:
        err("No runs are stored." if after is None else f"No run is older than {after}.")
        return
    rows = [(view.id, view.skill, view.state, view.began[:19], _word(view)) for view in views]
    out(table(("ID", "SKILL", "STATE", "BEGAN (UTC)", "MESSAGE"), rows))
    if len(views) == limit:
        err(f"help: toolmd runs --after {views[-1].id} lists older ones")


@GROUP.command()
def start(
    skill: Annotated[str, typer.Argument(metavar="SKILL", help="The skill.", autocompletion=named)],
    words: WordsArgument = None,
    *,
    at: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="When: `in 2h`, `18:30` or `2026-05-04T18:30` in local time, or with a zone.",
        ),
    ] = "now",
    input_json: InputOption = None,
    confidence: ConfidenceOption = None,
    user: UserOption = None,
    context: ContextOption = None,
    message: MessageOption = "",
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Start a run now or later, and do not wait for it.

    A process that executes runs starts it then; meanwhile `toolmd runs` lists it as scheduled, and
    `toolmd runs cancel` cancels it. Exit codes: 0 scheduled, 2 an unreadable or past time, 3
    denied, 5 unknown skill.
    """
    begins = moment(at)
    with open_workspace(project) as workspace:
        bound = known_skill(workspace, skill)
        if workspace.settings.store == "memory" or not bound.spec.durable:
            help_ = 'set store = "sqlite", and remove **Durable** from the skill'
            stop(ExitCode.USAGE, f"a run of {bound.name} ends with this process", help_)
        result = workspace.run_sync(
            bound.name,
            given_arguments(words or [], input_json, bound.spec.parameters, "--input-json"),
            confidence=confidence,
            user=user,
            context=context_of(context),
            message=message,
            at=begins,
        )
    if not json and result.run_id is not None:
        out(result.run_id)
    end_run(result, json=json)


@GROUP.command()
def show(run_id: RunIdArgument, *, json: JsonOption = False, project: ProjectOption = None) -> None:
    """Show a run step by step. Exit code 5: unknown run."""
    with open_workspace(project) as workspace, run_of(workspace, run_id):
        view = workspace.runs.get_sync(run_id)
    if json:
        out_json(view.to_dict())
        return
    out(f"{view.id}  {view.skill}  {view.state}")
    for entry in view.entries:
        step, outcome = recorded(entry)
        out(f"  {entry.at[:19]}  {printable(step)}  {outcome}")
    for question in view.questions:
        what = "waits for" if question.asks else "waits"
        out(f"  {what}  {view.id}/{question.key}  {printable(question.prompt)}")
    if view.result is not None:
        out(f"  {printable(view.result.message)}")


@GROUP.command()
def watch(
    run_id: RunIdArgument, *, json: JsonOption = False, project: ProjectOption = None
) -> None:
    """Show a run's steps as they happen, until it ends.

    Any process may execute the run. With --json, each event is a line, and the last line is the
    result. Ctrl-C does not stop the run. Exit codes: 0 done, 1 stopped or failed, 5 unknown run.
    """
    with open_workspace(project) as workspace:
        traces = workspace.runs.follow_sync(run_id)
        with run_of(workspace, run_id):
            last = next(traces)
        with steps_of(last.skill, json=stdout() if json else None, waits=True) as steps:
            news = _News(steps)
            news.hear(last)
            for last in traces:
                news.hear(last)
    result = last.view.result
    if result is None:
        help_ = f"toolmd runs resume {run_id}"
        stop(ExitCode.FINDINGS, f"run {run_id} is stuck: several attempts made no progress", help_)
    if json:
        out(dumps({"result": result.to_dict()}, ensure_ascii=False))
    else:
        show_skill_result(result)
    raise typer.Exit(ExitCode.DONE if result.success else ExitCode.FINDINGS)


class _News:
    """A filter that shows each event of a run once."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._told: set[Any] = set()

    def hear(self, trace: "RunTrace") -> None:
        """Show the events of a RunTrace that are new."""
        from toolmd._types.run import RunEvent

        asked = [RunEvent.waiting(question) for question in trace.view.questions]
        for event in (*trace.events, *asked):
            if event not in self._told:
                self._told.add(event)
                self._steps.tell(event)


@GROUP.command()
def graph(
    run_id: RunIdArgument,
    *,
    svg: SvgOption = False,
    output: OutputOption = None,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Draw the steps of a run and their current states.

    The picture shows the skill as it was when the run began. Exit code 5: unknown run.
    """
    with open_workspace(project) as workspace, run_of(workspace, run_id):
        trace = workspace.runs.trace_sync(run_id)
    drawable(trace.skill)
    beside = {"run": run_id, "skill": trace.skill.name, "states": trace.states}
    drawn(trace.skill, trace.states, svg=svg, output=output, json=beside if json else None)


@GROUP.command()
def resume(
    run_id: RunIdArgument,
    *,
    yes: YesOption = False,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Resume a run that waits, and ask its question.

    Exit codes: 0 done, 1 stopped or failed, 3 denied, 4 a question was not answered, 5 unknown
    run.
    """
    with open_workspace(project) as workspace:
        with run_of(workspace, run_id):
            skill = workspace.runs.trace_sync(run_id).skill
        with steps_of(skill, json=sys.stderr if json else None) as steps:
            result = workspace.runs.resume_sync(
                run_id,
                ask=lambda question: answer(question, steps, yes=yes),
                on_event=steps.tell,
            )
    end_run(result, json=json)


@GROUP.command()
def cancel(
    run_id: RunIdArgument, *, json: JsonOption = False, project: ProjectOption = None
) -> None:
    """Stop a run before its next call, and undo its completed steps.

    Exit codes: 0 cancelled, 1 it had already ended, 4 an undo needs a confirmation, 5 unknown run.
    """
    with open_workspace(project) as workspace, run_of(workspace, run_id):
        result = workspace.runs.cancel_sync(run_id)
    if result.error is None and not result.success:
        end_run(result, json=json)
    if json:
        out_json(result.to_dict())
    else:
        err(printable(result.message))
    cancelled = result.error is not None and result.error.code == "cancelled"
    raise typer.Exit(ExitCode.DONE if cancelled else ExitCode.FINDINGS)


@GROUP.command()
def resolve(
    run_id: RunIdArgument,
    *,
    done: Annotated[bool, typer.Option("--done/--not-done", help="Whether the call took effect.")],
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """State whether a call took effect, and resume its run.

    Only needed if the process died during a call of a tool that is neither Read Only nor
    Idempotent; --not-done calls it again. Exit codes: 0 done, 1 stopped or failed, 3 denied, 4 a
    question was not answered, 5 no such run, or it has no uncertain call.
    """
    with open_workspace(project) as workspace:
        with run_of(workspace, run_id):
            asked = workspace.runs.get_sync(run_id).questions
        keys = [question.key for question in asked if question.asks_outcome]
        if not keys:
            help_ = (
                f"toolmd runs show {run_id} lists its questions; toolmd runs resume {run_id} asks "
                "about calls that were interrupted"
            )
            stop(ExitCode.NOT_FOUND, f"run {run_id} has no uncertain call", help_)
        result = workspace.runs.answer_sync(run_id, done, key=keys[0])
    end_run(result, json=json)


def _word(view: Any) -> str:
    if view.result is not None:
        return printable(view.result.message)
    return printable(view.questions[0].prompt) if view.questions else ""
