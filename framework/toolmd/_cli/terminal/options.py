"""The options that many verbs share, and the project that they name."""

from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.screen import complain
from toolmd._types.call import fact_name

ProjectOption = Annotated[
    Path | None,
    typer.Option(
        "--project",
        metavar="DIR",
        help="The project's folder; else the nearest one upward.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.", show_default=False)]

UserOption = Annotated[str | None, typer.Option("--user", metavar="ID", help="Who asks for it.")]
ContextOption = Annotated[
    list[str] | None,
    typer.Option(
        "--context",
        metavar="KEY=VALUE",
        help="A fact about the caller, such as patient=P-1001; may be repeated.",
    ),
]
MessageOption = Annotated[
    str, typer.Option("--message", metavar="TEXT", help="What the user said.")
]
ConfidenceOption = Annotated[
    float | None,
    typer.Option("--confidence", metavar="N", min=0, max=1, help="How sure the caller is, 0 to 1."),
]
YesOption = Annotated[bool, typer.Option("--yes", help="Agree where a person must.")]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Check and judge everything, run nothing.")
]
PATIENT_EXAMPLE = "write a name and a value: --context patient=P-1001"
WordsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="KEY=VALUE",
        help="Arguments, typed as the definition says; `-` reads them as JSON from stdin.",
    ),
]
SvgOption = Annotated[
    bool, typer.Option("--svg/--mermaid", help="A picture, or text that Mermaid draws.")
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Where to write; .svg is a picture."),
]  # fmt: skip


def project_of(ctx: typer.Context, project: Path | None) -> Path | None:
    """Give the folder that was named behind the verb, or before it."""
    before: dict[str, Any] = ctx.find_root().obj or {}
    return project or before.get("project")


def context_of(stated: list[str] | None) -> dict[str, str]:
    """Return the facts of `--context KEY=VALUE`; ends with a usage error for anything else."""
    facts: dict[str, str] = {}
    for text in stated or ():
        name, equals, value = text.partition("=")
        fact = fact_name(name)
        if fact is None or not equals or not value.strip():
            stop(ExitCode.USAGE, f"--context {text} does not state a fact", PATIENT_EXAMPLE)
        if facts.setdefault(fact, value.strip()) != value.strip():
            stop(ExitCode.USAGE, f"--context states {fact} twice", "state it once")
    return facts


def stop(code: ExitCode, what: str, help_: str = "") -> NoReturn:
    """End with an error and its remedy."""
    complain(what, help_)
    raise typer.Exit(code)
