"""`run`: run a skill, and show its steps as they happen."""

import sys
from typing import Annotated

import typer

from toolmd._cli.project.opening import known_skill, named, open_workspace
from toolmd._cli.reports.earlier import warn_of_earlier
from toolmd._cli.reports.run_end import end_run
from toolmd._cli.reports.steps import answer, steps_of
from toolmd._cli.terminal.context import given_arguments
from toolmd._cli.terminal.options import (
    ConfidenceOption,
    ContextOption,
    InputOption,
    JsonOption,
    MessageOption,
    ProjectOption,
    UserOption,
    WordsArgument,
    YesOption,
    context_of,
)


def run(
    skill: Annotated[str, typer.Argument(metavar="SKILL", help="The skill.", autocompletion=named)],
    words: WordsArgument = None,
    *,
    input_json: InputOption = None,
    confidence: ConfidenceOption = None,
    user: UserOption = None,
    context: ContextOption = None,
    message: MessageOption = "",
    yes: YesOption = False,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Run a skill, and show its steps as they happen.

    With --json, the result goes to stdout, and the events of the steps go to stderr as JSON lines.
    Exit codes: 0 done, 1 stopped or failed, 3 denied, 4 a question was not answered, 5 unknown
    skill.
    """
    with open_workspace(project) as workspace:
        bound = known_skill(workspace, skill)
        spec = bound.spec
        warn_of_earlier(workspace, [bound.name, *spec.required_tools, *spec.required_skills])
        inputs = given_arguments(words or [], input_json, bound.spec.parameters, "--input-json")
        with steps_of(bound.spec, json=sys.stderr if json else None) as steps:
            result = workspace.run_sync(
                bound.name,
                inputs,
                confidence=confidence,
                user=user,
                context=context_of(context),
                message=message,
                ask=lambda question: answer(question, steps, yes=yes),
                on_event=steps.tell,
            )
        kept = workspace.settings.store != "memory" and bound.spec.durable
    end_run(result, json=json, kept=kept)
