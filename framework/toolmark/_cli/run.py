"""`run`: a skill, its steps told as they go."""

import sys
from typing import Annotated, Any, NoReturn

import typer

from toolmark._cli.call import agreed, given_arguments
from toolmark._cli.exits import ExitCode
from toolmark._cli.options import (
    JsonOption,
    MessageOption,
    PatientOption,
    ProjectOption,
    UserOption,
    WordsArgument,
    YesOption,
    project_of,
    stop,
)
from toolmark._cli.projects import named, open_workspace, unknown
from toolmark._cli.screen import err, interactive, out_json, paint, printable
from toolmark._cli.steps import Steps, steps_of
from toolmark._model.verdict import REFUSALS


def add(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("run", rich_help_panel="Run")(run)


def run(
    ctx: typer.Context,
    skill: Annotated[str, typer.Argument(metavar="SKILL", help="The skill.", autocompletion=named)],
    words: WordsArgument = None,
    *,
    input_json: Annotated[
        str | None, typer.Option(metavar="JSON", help="All inputs as one JSON object.")
    ] = None,
    user: UserOption = None,
    patient: PatientOption = None,
    message: MessageOption = "",
    yes: YesOption = False,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Run a skill, and show its steps as they go.

    With --json the result goes to stdout, and the events of the steps as JSON lines to stderr.
    Ends with 0 done, 1 stopped or failed, 4 a question nobody answered, 5 no such skill.
    """
    with open_workspace(project_of(ctx, project)) as workspace:
        bound = workspace.skills.get(skill) or workspace.skills.get(skill.replace("-", "_"))
        if bound is None:
            if skill.replace("-", "_") in workspace.tools:
                help_ = f"call it: toolmark call {skill}"
                stop(ExitCode.NOT_FOUND, f"{skill!r} is a tool, no skill", help_)
            unknown(skill, workspace.skills, workspace, "skill")
        inputs = given_arguments(words or [], input_json, bound.spec.parameters, "--input-json")
        with steps_of(bound.spec, json=sys.stderr if json else None) as steps:
            result = workspace.run_sync(
                bound.name,
                inputs,
                user=user,
                patient=patient,
                message=message,
                ask=lambda question: answer(question, steps, yes=yes),
                on_event=steps.tell,
            )
        kept = workspace.settings.engine != "memory" and bound.spec.durable
    end_run(result, json=json, kept=kept)


def end_run(result: Any, *, json: bool, kept: bool = True) -> NoReturn:
    """Show what a run came to, and end with its exit code; one that is kept can be taken up."""
    if json:
        out_json(result.to_dict())
    else:
        show_skill_result(result)
    raise typer.Exit(_exit_code(result, kept=kept))


def answer(question: Any, steps: Steps, *, yes: bool) -> bool | None:
    """Answer a run's question: by --yes, on the terminal, or not at all."""
    if not yes and not interactive():
        return None
    with steps.pause():
        return agreed(question.prompt, yes=yes)


def show_skill_result(result: Any) -> None:
    """Write the data to stdout, message and error to stderr."""
    from toolmark._cli.outcomes import show_data

    if result.success:
        show_data(result.data or None)
        if result.message:
            err(result.message)
        return
    show_data(result.data or None)
    said = printable(result.message or result.error or "")
    if result.code == "waiting":
        err(f"{paint('waits for an answer', 'cyan', sys.stderr)}: {said}")
    elif result.code == "stopped":
        err(f"{paint('stopped', 'yellow', sys.stderr)}: {said}")
    else:
        err(f"{paint('failed', 'red', sys.stderr)}[{result.code or 'failed'}] {said}")


def _exit_code(result: Any, *, kept: bool) -> ExitCode:
    if result.success:
        return ExitCode.DONE
    if result.code == "waiting":
        later = f"toolmark runs resume {result.run_id} [--yes]; toolmark pending shows what waits"
        err(f"help: {later if kept else 'answer on a terminal, or say --yes'}")
        return ExitCode.UNCONFIRMED
    return ExitCode.REFUSED if result.code in REFUSALS else ExitCode.FINDINGS
