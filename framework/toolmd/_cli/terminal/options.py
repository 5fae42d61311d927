"""The options that many commands share, and the functions that read them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.screen import complain

if TYPE_CHECKING:
    from toolmd._types.settings import Right


def _project_of(ctx: typer.Context, folder: Path | None) -> Path | None:
    """Return the folder of --project after the command, or before it."""
    return folder or ctx.find_root().params.get("project")


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


def user_of(value: str | None) -> str | None:
    """Return the user of --user; an empty name is a usage error, not the absence of a user."""
    if value is not None and not value.strip():
        raise typer.BadParameter("it is empty; name the user, or leave the option out")
    return value


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
MessageOption = Annotated[
    str, typer.Option("--message", metavar="TEXT", help="The user's own message.")
]
ConfidenceOption = Annotated[
    float | None,
    typer.Option("--confidence", metavar="N", min=0, max=1, help="The model's confidence, 0 to 1."),
]
YesOption = Annotated[bool, typer.Option("--yes", help="Confirm when a confirmation is needed.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Run all checks, but not the tool.")]
PATIENT_EXAMPLE = "write a name and a value: --context patient=P-1001"
InputOption = Annotated[
    str | None, typer.Option(metavar="JSON", help="All inputs as one JSON object.")
]
WordsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="KEY=VALUE",
        help="Arguments, converted to the parameters' types; `-` reads them as JSON from stdin.",
    ),
]
SvgOption = Annotated[
    bool, typer.Option("--svg/--mermaid", help="Draw a picture, or print Mermaid text.")
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="The file to write; .svg is a picture."),
]  # fmt: skip


def new_conversation() -> str:
    """Return the name of a conversation that consists of this command."""
    import secrets

    return f"cli-{secrets.token_hex(8)}"


def context_of(stated: list[str] | None) -> dict[str, str]:
    """Return the facts of `--context KEY=VALUE`; stop with a usage error for anything else."""
    facts = allowed_of(stated)
    for fact, values in facts.items():
        if len(values) > 1:
            stop(ExitCode.USAGE, f"--context states {fact} twice", "state it once")
    return {fact: values[0] for fact, values in facts.items()}


def allowed_of(stated: list[str] | None) -> dict[str, tuple[str, ...]]:
    """Return the values of each fact of `--context KEY=VALUE`, which may be repeated."""
    from toolmd._types.call import fact_name

    facts: dict[str, tuple[str, ...]] = {}
    for text in stated or ():
        name, equals, value = text.partition("=")
        fact = fact_name(name)
        if fact is None or not equals or not value.strip():
            stop(ExitCode.USAGE, f"--context {text} does not state a fact", PATIENT_EXAMPLE)
        facts[fact] = tuple(dict.fromkeys((*facts.get(fact, ()), value.strip())))
    return facts


def rights_of(words: str) -> "tuple[Right, ...]":
    """Return the rights of `--may call,decide`; raise ConfigError for an unknown one."""
    from toolmd.config.origin import Origin
    from toolmd.config.values import token_rights

    return token_rights(
        [word.strip() for word in words.split(",")], Origin("command line", "--may")
    )


def stop(code: ExitCode, what: str, help_: str = "") -> NoReturn:
    """Print an error and its remedy, and exit."""
    complain(code, what, help_)
    raise typer.Exit(code)
