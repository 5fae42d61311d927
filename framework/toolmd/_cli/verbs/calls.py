"""Calls and what waits for a person: call, handle, pending, confirm, reject, respond, accept."""

import datetime as dt
import json as jsons
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from toolmd._cli.files import state_problem
from toolmd._cli.frame import (
    COMMAND,
    Answer,
    CallerOptions,
    ConfidenceOption,
    DryRunOption,
    ExitCode,
    RolesOption,
    WordsArgument,
    YesOption,
    ask_agreement,
    new_conversation,
    read_arguments,
    stop,
    user_of,
)
from toolmd._cli.names import complete_names, not_loaded, suggest_python
from toolmd._cli.screen import (
    Paint,
    err,
    for_people,
    help_line,
    interactive,
    paint,
    plural,
    printable,
    read_stdin,
    table,
)
from toolmd.errors import SEE_NAMES

PAGE = 50
"""The default number of calls in a list."""
MOST = 1024 * 1024
"""The most bytes of a reply to read; more than a quarter of it is denied anyway."""
_DIALECTS = "auto, openai, openai-responses, anthropic, gemini, inline, action, plan"
_PAINTS: dict[str, Paint] = {
    **dict.fromkeys(("ok", "allowed"), "green"),
    **dict.fromkeys(("confirm", "review", "waiting"), "cyan"),
}
_WORST = (
    ExitCode.FINDINGS,
    ExitCode.DENIED,
    ExitCode.NOT_FOUND,
    ExitCode.UNCONFIRMED,
    ExitCode.DONE,
)
IdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="The pending call; `toolmd pending` lists them.")
]
IdsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ID",
        help="The pending call; without it, the only one that waits.",
    ),
]
DeciderOption = Annotated[
    str | None,
    typer.Option(
        "--user",
        metavar="ID",
        help="Decide as this user: about their own calls, and about reviews of other users' calls; "
        "reviews of their own calls they can only reject. Default: as the operator, about all.",
        callback=user_of,
    ),
]


def call(
    workspace: Any,
    name: Annotated[
        str, typer.Argument(metavar="TOOL", help="The tool.", autocompletion=complete_names)
    ],
    words: WordsArgument = None,
    *,
    args_json: Annotated[
        str | None, typer.Option(metavar="JSON", help="All arguments as one JSON object.")
    ] = None,
    confidence: ConfidenceOption = None,
    caller: CallerOptions,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    json: bool,
) -> Answer:
    """Call a tool.

    Exit codes: 0 done, 1 the tool failed, 3 denied, 4 not confirmed, 5 unknown tool.
    """
    from toolmd._cli.results import call_answer, show_progress, warn_of_earlier

    folded, parameters, help_ = name.replace("-", "_"), (), ""
    if bound := workspace.tools.get(name) or workspace.tools.get(folded):
        name, parameters = bound.name, bound.call_spec.parameters
    elif folded in workspace.skills:
        name = folded
    else:
        help_ = not_loaded(name, workspace) or SEE_NAMES
    warn_of_earlier(workspace, [name])
    stated, on_event = caller.arguments(), partial(show_progress, json=json)
    result = workspace.call_sync(
        name,
        read_arguments(words, args_json, parameters, "--args-json"),
        confidence=confidence,
        **stated,
        conversation=new_conversation(),
        dry_run=dry_run,
        on_event=on_event,
    )
    if not dry_run:
        result = _settle(workspace, result, yes=yes, user=caller.user, on_event=on_event)
    help_ = help_ or _remedy(result, workspace, stated["context"])
    answer = call_answer(result, again=True)
    return answer._replace(notes=[help_line(help_)] if help_ else [])


def _settle(workspace: Any, result: Any, *, yes: bool, user: str | None, on_event: Any) -> Any:
    """Return the result after a person's decisions; the same where nobody decides."""
    confirmations = workspace.confirmations
    while result.outcome == "confirm" and (asked := result.confirmation) is not None:
        if not interactive() and (asked.form is not None or not yes):
            break  # What a server asks for has no answer in --yes.
        values, waiting = None, _find_earlier(workspace, asked) or asked
        if waiting.id != asked.id:
            confirmations.reject_sync(asked.id, user=user)
        if asked.form is not None:
            from toolmd._cli.prompts import ask_values

            values = ask_values(asked.prompt, asked.form)
            agrees = values is not None
        else:
            agrees = ask_agreement(asked.prompt, yes=yes)
        if agrees:
            result = confirmations.approve_sync(waiting.id, values, user=user, on_event=on_event)
        else:
            result = confirmations.reject_sync(waiting.id, user=user)
    return result


def _find_earlier(workspace: Any, asked: Any) -> Any:
    """Return the pending call that the same command made before; None where there is none."""
    if asked.form is not None or not asked.bound_to:  # A run's question is bound to its run.
        return None

    def facts_of(one: Any) -> Any:
        caller = one.call.caller._replace(message="", earlier=(), conversation=None)
        return one.kind, one.state, one.bound_to, caller

    every = workspace.confirmations.pending_sync(user=asked.call.caller.user)
    return next((one for one in every if one.id != asked.id and facts_of(one) == facts_of(asked)
                 and (one.call.caller.conversation or "").startswith(COMMAND)), None)  # fmt: skip


def _remedy(result: Any, workspace: Any, supplied: dict[str, str]) -> str:
    """Return a hint for failures that this command line or environment causes."""
    match result.error.code if result.error else "":
        case "internal_guard_error":
            return "; ".join(state_problem(workspace.settings.state) or ())
        case "not_implemented":
            path = Path(workspace.tools[result.tool].call_spec.source.path)
            return suggest_python(result.tool, path, workspace.settings.root)
        case "auth_required":
            return "add --user ID, the user who makes the call"
        case "context_required":
            facts = workspace.tools[result.tool].call_spec.requires_context
            lacking = [f"--context {fact}=VALUE" for fact in facts if not supplied.get(fact)]
            return f"add {' '.join(lacking)}, what the host knows about the caller"
        case "not_allowed" if roles := workspace.tools[result.tool].call_spec.allowed_roles:
            return f"add --role {roles[0]}, a role of the user" if not result.error.details else ""
        case "missing_confidence":
            return "add --confidence N, the model's confidence"
        case "no_explicit_intent" | "not_stated_by_user":
            return "add --message TEXT, the user's own message"
        case "malformed_call":
            return """the shell removes quotes: use --args-json '{"key": "value"}', or key=value"""
        case _:
            return ""


def handle(
    workspace: Any,
    *,
    dialect: Annotated[
        str,
        typer.Option(metavar="NAME", help=f"The model's call format: {_DIALECTS}, or a plugin's."),
    ] = "auto",
    caller: CallerOptions,
    dry_run: DryRunOption = False,
    json: bool,
) -> Answer:
    """Run the calls of a model's reply, read from stdin.

    Exit code, the worst of its calls: 1 a tool failed, 3 denied, 5 unknown tool, 4 not confirmed,
    0 done.
    """
    from toolmd._cli.results import exit_code, show_progress, warn_of_earlier

    turn = workspace.handle_sync(
        read_stdin("the model's reply", MOST),
        dialect,
        **caller.arguments(),
        conversation=new_conversation(),
        dry_run=dry_run,
        on_event=partial(show_progress, json=json),
    )
    warn_of_earlier(workspace, [result.tool for result in turn.results])
    lines = [for_people(turn.clean_message)] if turn.clean_message else []
    lines += ["", *map(_line, turn.results)] if lines and turn.results else map(_line, turn.results)
    notes = [f"note: {printable(note)}" for result in turn.results for note in result.notes]
    notes += [
        f"help: toolmd confirm {one.id}, or reject, or respond with a text"
        for one in turn.pending
        if one.id
    ]
    code = min(map(exit_code, turn.results), key=_WORST.index, default=ExitCode.DONE)
    return Answer(turn.to_dict(), "\n".join(lines) if lines else None, notes, code)


def _line(result: Any) -> str:
    """Format one result as a line: its outcome, its tool, and its message or data."""
    code = f"[{result.error.code}]" if result.error else ""
    if result.confirmation is not None:
        text = result.confirmation.prompt
    elif result.error is not None:
        text = result.error.message
    else:
        data = "" if result.data is None else jsons.dumps(result.data, ensure_ascii=False)
        text = result.message or data
    outcome = paint(result.outcome, _PAINTS.get(result.outcome, "red")) + code
    tool = f" {printable(result.tool)}" if result.tool else ""
    return f"{outcome}{tool}{': ' if text else ''}{printable(text)}"


def pending(
    workspace: Any,
    *,
    user: Annotated[
        str | None,
        typer.Option(
            "--user", metavar="ID", help="Only this user's; default: all.", callback=user_of
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="The most calls to list; by default 50, and all with --json."),
    ] = None,
    after: Annotated[
        str | None, typer.Option(metavar="ID", help="The last call of the previous page.")
    ] = None,
    role: Annotated[
        list[str] | None,
        typer.Option("--role", metavar="NAME", help="Also those that such a role may approve."),
    ] = None,
    json: bool,
) -> Answer:
    """List the calls that wait for a person, the oldest first."""
    limit = limit or (None if json else PAGE)
    calls = workspace.confirmations.pending_sync(
        user=user, roles=role or (), limit=limit, after=after
    )
    if not calls:
        none = "No call is pending." if after is None else f"No call is newer than {after}."
        return Answer([], lines=[none])
    head = ("ID", "FOR", "USER", "SENSITIVITY", "UNTIL", "PROMPT")
    more = [f"help: toolmd pending --after {calls[-1].id} lists newer ones"]
    text = table(head, [_row(one) for one in calls])
    return Answer([one.to_dict() for one in calls], text, more if len(calls) == limit else ())


def _row(one: Any) -> tuple[str, ...]:
    until = "-"
    if one.to_dict().get("expires"):
        end = dt.datetime.fromtimestamp(one.expires).astimezone()
        is_today = end.date() == dt.datetime.now().astimezone().date()
        until = f"{end:%H:%M:%S}" if is_today else f"{end:%Y-%m-%d %H:%M}"
    kind = {"confirm": "a yes", "review": "review"}[one.kind]
    if one.kind == "review" and one.approvals:
        kind = ", ".join(dict.fromkeys(each.whose for each in one.approvals))
    user = printable(one.call.caller.user or "-")
    return one.id, kind, user, one.sensitivity, until, printable(one.prompt)


def _find_id(
    workspace: Any, verb: str, ids: list[str] | None, user: str | None, role: list[str] | None
) -> str:
    """Return the id to decide: the given one, or that of the only call that waits; else stop."""
    if ids is not None and len(ids) == 1:
        return ids[0]
    found = workspace.confirmations.pending_sync(user=user, roles=role or (), limit=PAGE)
    if not found:
        stop(ExitCode.NOT_FOUND, "no call is pending", "`toolmd pending` lists the calls that wait")
    if ids or len(found) > 1:
        many = f"{len(ids)} ids are given" if ids else f"{plural(len(found), 'call')} wait"
        lines = (f"\n  toolmd {verb} {one.id}  {printable(one.prompt)}" for one in found)
        what = f"{verb} decides one call, and {many}"
        stop(ExitCode.USAGE, what, f"write one of these:{''.join(lines)}")
    err(f"{found[0].id}: {printable(found[0].prompt)}")
    return str(found[0].id)


def confirm(
    workspace: Any,
    confirmation_ids: IdsArgument = None,
    *,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change an argument first; repeatable."),
    ] = None,
    user: DeciderOption = None,
    role: RolesOption = None,
    json: bool,
) -> Answer:
    """Approve a pending call and run it.

    Without ID, that is the only call that waits; of several, nothing runs and they are listed.
    Without --user you decide as the operator, about the calls and reviews of all users. With --user
    you decide as that user, who can't approve another user's call or their own review. Changed
    arguments are checked again; a critical tool then needs another confirmation. Exit codes: 0
    done, 1 the tool failed, 3 denied or expired, 4 needs another confirmation, 5 unknown call.
    """
    from toolmd._cli.results import call_answer, show_progress, warn_of_earlier

    confirmation_id = _find_id(workspace, "confirm", confirmation_ids, user, role)
    edit = _edit(workspace, confirmation_id, sets) if sets else None
    result = workspace.confirmations.approve_sync(
        confirmation_id,
        edit,
        user=user,
        roles=role or (),
        on_event=partial(show_progress, json=json),
    )
    warn_of_earlier(workspace, [result.tool])
    return call_answer(result)


def _edit(workspace: Any, confirmation_id: str, words: list[str]) -> dict[str, Any] | None:
    """Return the changed arguments, converted to the types of the tool's parameters."""
    from toolmd._cli.arguments import convert_arguments
    from toolmd._types.asked import fields_of

    waiting = workspace.confirmations.get_sync(confirmation_id)
    bound = None if waiting is None else workspace.tools.get(waiting.call.tool)
    parameters = () if bound is None else bound.spec.parameters
    if waiting is not None and waiting.form is not None:
        parameters = fields_of(waiting.form)
    try:
        return convert_arguments(words, parameters)
    except ValueError as error:
        stop(ExitCode.USAGE, str(error), "write --set key=value")


def reject(
    workspace: Any,
    confirmation_ids: IdsArgument = None,
    *,
    user: DeciderOption = None,
    role: RolesOption = None,
) -> Answer:
    """Reject a pending call, without ID the only one that waits: it never runs.

    Exit codes: 0 rejected, 3 denied or expired, 4 the run now has another question, 5 unknown
    call.
    """
    from toolmd._cli.results import call_answer

    confirmation_id = _find_id(workspace, "reject", confirmation_ids, user, role)
    result = workspace.confirmations.reject_sync(confirmation_id, user=user, roles=role or ())
    if result.error is not None and result.error.code == "rejected":
        line = f"rejected: {printable(result.tool)} will not run"
        return Answer(result.to_dict(), lines=[line])
    if (following := result.confirmation) is not None:
        line = f"rejected; the run now waits for: {printable(following.prompt)}"
        lines = [line, f"help: toolmd confirm {following.id}, or reject"]
        return Answer(result.to_dict(), lines=lines, code=ExitCode.UNCONFIRMED)
    return call_answer(result)


def respond(
    workspace: Any,
    confirmation_id: IdArgument,
    text: Annotated[
        str,
        typer.Argument(metavar="TEXT", help="The answer for the model; `-` reads it from stdin."),
    ],
    *,
    user: DeciderOption = None,
    role: RolesOption = None,
) -> Answer:
    """Answer a pending call in place of the tool; the tool never runs.

    Exit codes: 0 answered, 3 denied or expired, 4 the run now has another question, 5 unknown
    call.
    """
    from toolmd._cli.results import call_answer

    if text == "-":
        text = read_stdin("the answer").decode(errors="replace").rstrip("\r\n")
    roles = role or ()
    result = workspace.confirmations.respond_sync(confirmation_id, text, user=user, roles=roles)
    return call_answer(result)


def accept(
    workspace: Any,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="The tool or skill; without it, list the pending edits."
        ),
    ] = None,
    *,
    all_: Annotated[bool, typer.Option("--all", help="Accept every pending edit.")] = False,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="REV",
            help="Write what is weaker than at a git revision into policy-accepted.toml.",
        ),
    ] = None,
    by: Annotated[str, typer.Option(metavar="PERSON", help="Who accepts it, for that file.")] = "",
    why: Annotated[str, typer.Option(metavar="TEXT", help="The reason, for that file.")] = "",
) -> Answer:
    """Accept an edit that weakens a policy, so that it becomes live.

    Until then, the stricter policy applies. Without NAME and --all, list the pending edits. With
    --against, accept for a release: the file is committed, and each start reads it. Exit code 5:
    NAME has no pending edit.
    """
    if all_ and name is not None:
        stop(ExitCode.USAGE, "NAME and --all at once", "use one of the two")
    if against is not None:
        if not all_ and name is None:
            stop(ExitCode.USAGE, "--against needs NAME or --all", "`toolmd check --against` lists")
        return _accept_against(workspace, against, name, by, why)
    changes = workspace.changes
    edits = (changes.accept_sync(name),) if name is not None else changes.list_sync()
    if all_:
        for one in dict.fromkeys(edit.name for edit in edits):
            changes.accept_sync(one)
    lines = []
    for edit in edits:
        lines.append(f"{paint(f'{edit.path}:{edit.line}', 'bold')}: {edit.name}")
        lines += [
            f"  {paint(printable(line), 'red' if line.startswith('-') else 'green')}"
            for line in edit.diff.splitlines()
        ]
    ended = "No edit is pending."
    if name is not None:
        ended = f"{edits[0].name}: the edit is live now."
    elif edits:
        live = "live now." if all_ else "`toolmd accept NAME` makes one live."
        ended = f"{plural(len(edits), 'pending edit')}: {live}"
    value = [edit.to_dict() for edit in edits]
    return Answer(value if name is None else value[0], "\n".join(lines) or None, [ended])


def _accept_against(workspace: Any, revision: str, name: str | None, by: str, why: str) -> Answer:
    from toolmd._load.accepted import FILE, write_accepted
    from toolmd._workspace.against import compare

    settings = workspace.settings
    found = compare(settings.root, settings, revision).weakened
    wanted = [one for one in found if name is None or one[0] == name.replace("-", "_")]
    new = write_accepted(settings.root, wanted, by, why)
    lines = [printable(f"{each}: {one}") for each, one in new]
    ended = (
        f"{plural(len(new), 'change')} written to {FILE}: commit it."
        if new
        else (f"Nothing is weaker than at {revision}.")
    )
    value = [{"name": each, **one._asdict()} for each, one in new]
    return Answer(value, "\n".join(lines) or None, [ended])


def crises(
    workspace: Any,
    conversation: Annotated[
        str | None,
        typer.Argument(
            metavar="CONVERSATION", help="Clear its flag; without it, list all flagged ones."
        ),
    ] = None,
    *,
    user: Annotated[str | None, typer.Option(help="The user of the conversation.")] = None,
) -> Answer:
    """List the conversations with a crisis flag, or clear the flag of one.

    In a flagged conversation, calls that are not Read Only wait for an operator. Exit code 5:
    CONVERSATION has no flag.
    """
    if conversation is not None:
        workspace.crises.clear_sync(conversation, user=user)
        note = f"{printable(conversation)}: the crisis flag is cleared."
        return Answer({"cleared": conversation}, notes=[note])
    lines = []
    found = workspace.crises.list_sync()
    for one in found:
        since = dt.datetime.fromtimestamp(one.since, dt.UTC).astimezone().isoformat(" ", "seconds")
        whose = f"  user {printable(one.user)}" if one.user else ""
        lines.append(f"{printable(one.conversation)}{whose}  since {since}")
    flagged = plural(len(found), "flagged conversation")
    clears = f"{flagged}: `toolmd crises CONVERSATION [--user ID]` clears one."
    ended = clears if found else "No conversation is flagged."
    return Answer([one.to_dict() for one in found], "\n".join(lines) or None, [ended])
