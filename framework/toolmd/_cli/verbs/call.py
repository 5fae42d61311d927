"""`call`: make one call through the call pipeline."""

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolmd._cli.project.health import look_at_state
from toolmd._cli.project.opening import named, not_loaded, open_workspace, wanted_python
from toolmd._cli.reports.earlier import warn_of_earlier
from toolmd._cli.terminal.context import agreed, given_arguments
from toolmd._cli.terminal.options import (
    ConfidenceOption,
    ContextOption,
    DryRunOption,
    JsonOption,
    MessageOption,
    ProjectOption,
    UserOption,
    WordsArgument,
    YesOption,
    context_of,
    new_conversation,
)
from toolmd._cli.terminal.screen import err, interactive, out_json, paint
from toolmd.errors import SEE_NAMES

if TYPE_CHECKING:
    from toolmd._types.result import EventListener


def call(
    name: Annotated[str, typer.Argument(metavar="TOOL", help="The tool.", autocompletion=named)],
    words: WordsArgument = None,
    *,
    args_json: Annotated[
        str | None, typer.Option(metavar="JSON", help="All arguments as one JSON object.")
    ] = None,
    confidence: ConfidenceOption = None,
    message: MessageOption = "",
    user: UserOption = None,
    context: ContextOption = None,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Call a tool.

    Exit codes: 0 done, 1 the tool failed, 3 denied, 4 not confirmed, 5 unknown tool.
    """
    from toolmd._cli.reports.outcomes import exit_code, show_progress, show_result

    with open_workspace(project) as workspace:
        tool, parameters, why = _known(workspace, name)
        warn_of_earlier(workspace, [tool])
        supplied = context_of(context)
        on_event = partial(show_progress, json=json)
        result = workspace.call_sync(
            tool,
            given_arguments(words or [], args_json, parameters, "--args-json"),
            confidence=confidence,
            message=message,
            user=user,
            context=supplied,
            conversation=new_conversation(),
            dry_run=dry_run,
            on_event=on_event,
        )
        if not dry_run:
            result = _decided(workspace, result, yes=yes, user=user, on_event=on_event)
    if json:
        out_json(result.to_dict())
    else:
        show_result(result)
    if help_ := why or _remedy(result, workspace, supplied):
        err(f"{paint('help', 'cyan', sys.stderr)}: {help_}")
    raise typer.Exit(exit_code(result))


def _decided(
    workspace: Any, result: Any, *, yes: bool, user: str | None, on_event: "EventListener"
) -> Any:
    """Return the result after a person's decisions; the same where nobody decides."""
    confirmations = workspace.confirmations
    while result.outcome == "confirm" and (asked := result.confirmation) is not None:
        if asked.form is None:
            if not agreed(asked.prompt, yes=yes):
                break
            result = confirmations.approve_sync(asked.id, user=user, on_event=on_event)
            continue
        if not interactive():
            # What a server asks for has no answer in --yes.
            break
        from toolmd._cli.terminal.prompts import ask_values

        values = ask_values(asked.prompt, asked.form)
        if values is None:
            result = confirmations.reject_sync(asked.id, user=user)
        else:
            result = confirmations.approve_sync(asked.id, values, user=user, on_event=on_event)
    return result


def _known(workspace: Any, name: str) -> tuple[str, Any, str]:
    """Return a tool's name, its parameters, and a remedy if the name is unknown."""
    folded = name.replace("-", "_")
    bound = workspace.tools.get(name) or workspace.tools.get(folded)
    if bound is not None:
        return bound.name, bound.call_spec.parameters, ""
    if folded in workspace.skills:
        return folded, (), ""
    return name, (), not_loaded(name, workspace) or SEE_NAMES


def _remedy(result: Any, workspace: Any, supplied: Mapping[str, str]) -> str:
    """Return a hint for failures that this command line or environment causes."""
    match result.error.code if result.error else "":
        case "internal_guard_error":
            sign = look_at_state(workspace.settings.state)
            return "" if sign.state == "ok" else f"{sign.found}; {sign.remedy}"
        case "not_implemented":
            path = Path(workspace.tools[result.tool].call_spec.source.path)
            return wanted_python(result.tool, path, workspace.settings.root)
        case "auth_required":
            return "add --user ID, the user who makes the call"
        case "context_required":
            facts = workspace.tools[result.tool].call_spec.requires_context
            lacking = [f"--context {fact}=VALUE" for fact in facts if not supplied.get(fact)]
            return f"add {' '.join(lacking)}, what the host knows about the caller"
        case "missing_confidence":
            return "add --confidence N, the model's confidence"
        case "no_explicit_intent" | "not_stated_by_user":
            return "add --message TEXT, the user's own message"
        case "malformed_call":
            return """the shell removes quotes: use --args-json '{"key": "value"}', or key=value"""
        case _:
            return ""
