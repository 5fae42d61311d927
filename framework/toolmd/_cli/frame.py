"""The frame of every verb: its shared options, its project, its answer and its exit code."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, NoReturn

import typer

from toolmd._cli import screen
from toolmd._cli.files import state_problem
from toolmd.errors import ToolmdError, did_you_mean

if TYPE_CHECKING:
    # `--help` must not import the workspace.
    from toolmd._types.settings import Right
    from toolmd._workspace import Workspace


PORT = 8787
"""The default port of a server."""


class ExitCode(IntEnum):
    """Exit codes; they are stable, because scripts branch on them."""

    DONE = 0
    FINDINGS = 1
    """There are errors or warnings, or the tool failed."""
    USAGE = 2
    DENIED = 3
    """The call was denied."""
    UNCONFIRMED = 4
    """A person must agree, and nobody did."""
    NOT_FOUND = 5
    """The name is unknown, or the server can't be reached."""
    INTERNAL = 70
    INTERRUPTED = 130
    """Ctrl-C ended it, or a second signal ended a server before its calls did."""


class Answer(NamedTuple):
    """What a verb answers: the frame prints it."""

    value: Any = None
    """The JSON of --json."""
    text: str | None = None
    """The text on stdout without --json."""
    lines: Sequence[str] = ()
    """Lines on stderr without --json."""
    code: int = ExitCode.DONE
    notes: Sequence[str] = ()
    """Lines on stderr, with --json too."""


def _project_of(ctx: typer.Context, folder: Path | None) -> Path | None:
    """Return the folder of --project after the command, or before it."""
    return folder or ctx.find_root().params.get("project")


def user_of(value: str | None) -> str | None:
    """Return the user of --user; an empty name is a usage error, not the absence of a user."""
    if value is not None and not value.strip():
        raise typer.BadParameter("it is empty; name the user, or leave the option out")
    return value


ProjectOption = Annotated[
    Path | None,
    typer.Option(
        "--project",
        metavar="DIR",
        callback=_project_of,
        help="The project's folder; default: the nearest one upward.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.", show_default=False)]
UserOption = Annotated[
    str | None,
    typer.Option("--user", metavar="ID", help="The user who makes the call.", callback=user_of),
]
ContextOption = Annotated[
    list[str] | None,
    typer.Option(
        "--context",
        metavar="KEY=VALUE",
        help="A fact about the caller, such as patient=P-1001; may be repeated.",
    ),
]
RolesOption = Annotated[
    list[str] | None,
    typer.Option("--role", metavar="NAME", help="A role of the user; may be repeated."),
]
MessageOption = Annotated[
    str, typer.Option("--message", metavar="TEXT", help="The user's own message.")
]
ConfidenceOption = Annotated[
    float | None,
    typer.Option("--confidence", metavar="N", min=0, max=1, help="The model's confidence, 0 to 1."),
]
YesOption = Annotated[bool, typer.Option("--yes", help="Confirm when a confirmation is needed.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Run all checks, but not the tool.")]
WordsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="KEY=VALUE",
        help="Arguments, converted to the parameters' types; `-` reads them as JSON from stdin.",
    ),
]


class CallerOptions(NamedTuple):
    """The options of a verb that makes calls; a verb has them as `caller`."""

    message: MessageOption = ""
    user: UserOption = None
    role: RolesOption = None
    context: ContextOption = None

    def arguments(self) -> dict[str, Any]:
        """Return them as arguments of a call; the context as facts by name."""
        facts = context_of(self.context)
        return {
            "message": self.message, "user": self.user, "roles": self.role or (), "context": facts,
        }  # fmt: skip


def frame(verb: Callable[..., Answer | None], *, group: bool = False) -> Callable[..., None]:
    """Return the command of a verb, a function of its options.

    A verb that has the parameter `workspace` gets the open project, `project` the folder of
    --project, `caller` the options of a call, and `json` whether --json was given. A verb that
    answers has --json, and its answer is printed. With `group`, it runs only without a subcommand.
    """
    parameters = inspect.signature(verb).parameters
    answers = inspect.signature(verb).return_annotation is Answer
    shared: dict[str, tuple[Any, Any]] = {}
    if "caller" in parameters:
        hints = CallerOptions.__annotations__
        shared |= {name: (hints[name], value) for name, value in CallerOptions()._asdict().items()}
    if answers:
        shared["json"] = (JsonOption, False)
    if {"workspace", "project"} & parameters.keys():
        shared["project"] = (ProjectOption, None)

    def command(**given: Any) -> None:
        if group and given.pop("ctx").invoked_subcommand is not None:
            return
        wants = {name: given.pop(name, None) for name in ("json", "project")}
        roles: list[str] = given.get("role") or []
        if "caller" in parameters:
            wants["caller"] = CallerOptions(*(given.pop(name) for name in CallerOptions._fields))
        with ExitStack() as stack:
            if "workspace" in parameters:
                wants["workspace"] = stack.enter_context(open_workspace(wants["project"]))
            elif answers:
                stack.enter_context(screen.stdout_for_data())
            if roles:
                _check_roles(roles, wants["project"])
            given |= {name: value for name, value in wants.items() if name in parameters}
            answer = verb(**given)
        if answer is not None:
            show(answer, json=bool(wants["json"]))

    own = [one for name, one in parameters.items() if name not in {*shared, "workspace", "caller"}]
    added = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value, annotation=hint)
             for name, (hint, value) in shared.items()]  # fmt: skip
    if group:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        own.insert(0, inspect.Parameter("ctx", kind, annotation=typer.Context))
    command.__name__, command.__doc__ = verb.__name__, verb.__doc__
    command.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in (*own, *added)}
    return command


def _check_roles(stated: Sequence[str], folder: Path | None) -> None:
    """Stop with a usage error for a role that the settings do not declare."""
    from toolmd.config import load_settings

    known = load_settings(folder).identity.roles
    for role in stated:
        if known and role not in known:
            help_ = did_you_mean(role, known) or f"the settings have {', '.join(known)}"
            stop(ExitCode.USAGE, f"--role {role} is no role of `[identity] roles`", help_)


def show(answer: Answer, *, json: bool) -> None:
    """Print an answer, and exit with its code."""
    if json:
        screen.out_json(answer.value)
    else:
        if answer.text is not None:
            screen.out(answer.text)
        for line in answer.lines:
            screen.err(line)
    for line in answer.notes:
        screen.err(line)
    if answer.code:
        raise typer.Exit(int(answer.code))


_ERRORS = {
    ExitCode.FINDINGS: "failed",
    ExitCode.USAGE: "usage",
    ExitCode.DENIED: "denied",
    ExitCode.NOT_FOUND: "not_found",
    ExitCode.INTERNAL: "internal",
}
"""The `error.code` of a command that ends with an error, by its exit code."""


def complain(code: ExitCode, what: str, help_: str = "") -> None:
    """Write an error and its remedy to stderr; with --json, also to stdout as JSON."""
    screen.complain(_ERRORS[code], what, help_)


def stop(code: ExitCode, what: str, help_: str = "") -> NoReturn:
    """Print an error and its remedy, and exit."""
    complain(code, what, help_)
    raise typer.Exit(code)


def context_of(stated: Sequence[str] | None) -> dict[str, str]:
    """Return the facts of `--context KEY=VALUE`; stop with a usage error for anything else.

    A fact without a value is absent, as an unset variable of a shell makes it.
    """
    facts = allowed_of(stated, may_be_empty=True)
    for fact, values in facts.items():
        if len(values) > 1:
            stop(ExitCode.USAGE, f"--context states {fact} twice", "state it once")
    return {fact: values[0] for fact, values in facts.items() if values[0]}


def allowed_of(
    stated: Sequence[str] | None, *, may_be_empty: bool = False
) -> dict[str, tuple[str, ...]]:
    """Return the values of each fact of `--context KEY=VALUE`, which may be repeated."""
    from toolmd._types.call import fact_name

    facts: dict[str, tuple[str, ...]] = {}
    for text in stated or ():
        name, equals, value = text.partition("=")
        fact = fact_name(name)
        if fact is None or not equals or not (value.strip() or may_be_empty):
            help_ = "write a name and a value: --context patient=P-1001"
            stop(ExitCode.USAGE, f"--context {text} does not state a fact", help_)
        facts[fact] = tuple(dict.fromkeys((*facts.get(fact, ()), value.strip())))
    return facts


def rights_of(words: str) -> "tuple[Right, ...]":
    """Return the rights of `--may call,decide`; raise ConfigError for an unknown one."""
    from toolmd._types.settings import TokenSettings
    from toolmd.config.values import Origin, read

    rights: tuple[Right, ...] = read(
        TokenSettings.__annotations__["may"], words, Origin("command line", "--may", text=True)
    )
    return rights


COMMAND = "cli-"
"""How the names of conversations begin that consist of one command."""


def new_conversation() -> str:
    """Return the name of a conversation that consists of this command."""
    import secrets

    return f"{COMMAND}{secrets.token_hex(8)}"


def read_arguments(words: list[str] | None, text: str | None, parameters: Any, option: str) -> Any:
    """Return the arguments as an object, or as JSON text for the call pipeline to parse."""
    from toolmd._cli.arguments import convert_arguments

    if text is not None and words:
        other = "-" if words == ["-"] else "key=value"
        stop(ExitCode.USAGE, f"{option} and {other} at once", "use one of the two")
    if words == ["-"] or text == "-":
        return screen.read_stdin("the arguments as JSON")
    if text is not None:
        return text
    try:
        return convert_arguments(words or (), parameters)
    except ValueError as error:
        names = [f"{parameter.name}=…" for parameter in parameters] or ["key=value"]
        stop(ExitCode.USAGE, str(error), f"write {' '.join(names)}, or {option} '{{…}}'")


def ask_agreement(prompt: str, *, yes: bool) -> bool:
    """Return whether a person agrees: by --yes, or by an answer on the terminal."""
    if yes:
        screen.err(f"{screen.printable(prompt)} yes (--yes)")
        return True
    return screen.interactive() and screen.ask(screen.printable(prompt))


_OF_STORES = {"sqlite3", "psycopg"}
"""The packages whose errors mean that a store can't be used."""


@contextmanager
def open_workspace(folder: Path | None, *, traces: bool = False) -> "Iterator[Workspace]":
    """Open the project in a folder, or the nearest project in a parent folder.

    Log records go to stderr, one line each, or in full if `traces` is True. Prints of the
    project's Python go to stderr too.
    """
    with screen.stdout_for_data(), nullcontext() if traces else screen.log_in_lines():
        from toolmd._workspace import Workspace

        with Workspace.open(folder) as workspace:
            try:
                yield workspace
            except Exception as error:
                if type(error).__module__.partition(".")[0] not in _OF_STORES:
                    raise
                state = workspace.settings.state
                reason = str(error).partition("\n")[0]
                problem = f"the store in {state} can't be used: {reason}; try again"
                raise ToolmdError("; ".join(state_problem(state) or [problem])) from error
