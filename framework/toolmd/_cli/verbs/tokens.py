"""`tokens`: make, list and revoke the tokens of `toolmd serve` over HTTP."""

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from toolmd._cli.terminal.atomic_write import replace_file
from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.options import (
    JsonOption,
    ProjectOption,
    allowed_of,
    rights_of,
    stop,
    user_of,
)
from toolmd._cli.terminal.screen import err, out, out_json, printable, table
from toolmd._types.settings import Settings, TokenSettings
from toolmd.config import load_settings

PREFIX = 12
"""The characters of a hash that a list shows."""
NEXT = "a running server reads it at SIGHUP, with --follow at once"
AllowedOption = Annotated[
    list[str] | None,
    typer.Option(
        "--context",
        metavar="KEY=VALUE",
        help="A value that its requests may state for a fact, such as patient=P-1001; may be "
        "repeated, also for one fact.",
    ),
]
GROUP = typer.Typer(rich_markup_mode=None)


@GROUP.callback(invoke_without_command=True)
def tokens(ctx: typer.Context, *, json: JsonOption = False, project: ProjectOption = None) -> None:
    """List the tokens of the settings: the first digits of each hash, its user and its rights."""
    if ctx.invoked_subcommand is not None:
        return
    known = load_settings(project).serve.tokens
    if json:
        out_json([
            {"sha256": one.sha256, "user": one.user, "may": list(one.may),
             "context": {fact: list(values) for fact, values in one.context.items()}}
            for one in known
        ])  # fmt: skip
    elif known:
        rows = [
            (one.sha256[:PREFIX], printable(one.user), ", ".join(one.may), _facts(one))
            for one in known
        ]
        out(table(("TOKEN", "USER", "MAY", "CONTEXT"), rows))
    else:
        err("The settings list no tokens; each start of `toolmd serve` makes one of its own.")


@GROUP.command()
def new(
    *,
    user: Annotated[
        str,
        typer.Option("--user", metavar="ID", help="The user of its calls.", callback=user_of),
    ],
    may: Annotated[
        str,
        typer.Option("--may", metavar="RIGHTS", help="By commas: call, decide, operate."),
    ] = "call",
    context: AllowedOption = None,
    project: ProjectOption = None,
) -> None:
    """Make a token, print it once, and add its hash to the settings.

    A token for a model's host may `call` only, so that a model can't approve its own calls. A
    person who confirms has one that may `decide`; `operate` is for the operators of the system.
    """
    from toolmd._auth.tokens import digest_of, fresh_token
    from toolmd._cli.project.token_tables import added, header_of, table_of

    settings = load_settings(project)
    secret = fresh_token()
    token = TokenSettings(digest_of(secret), user, rights_of(may), allowed_of(context))
    file = _own_file(settings)
    header = header_of(file or Path("toolmd.toml"))
    text = None if file is None else added(file.read_text("utf-8"), token, header)
    if file is None or text is None:
        err(f"Add this to the settings:\n\n{table_of(token, header)}")
    else:
        replace_file(file, text)
        err(f"Added {token.sha256[:PREFIX]} to {file}; {NEXT}.")
    err("The token of this user is printed only now; keep it as you keep a password:")
    out(secret)


@GROUP.command()
def revoke(
    prefix: Annotated[
        str,
        typer.Argument(
            metavar="TOKEN", help="The first digits of its hash; `toolmd tokens` lists it."
        ),
    ],
    *,
    project: ProjectOption = None,
) -> None:
    """Remove a token from the settings: its requests are denied from then on.

    Exit codes: 0 removed, 2 it can't be removed there, 5 no such token.
    """
    from toolmd._cli.project.token_tables import header_of, removed

    settings = load_settings(project)
    found = [one for one in settings.serve.tokens if one.sha256.startswith(prefix.lower())]
    if len(found) != 1:
        what = "several tokens begin" if found else "no token begins"
        stop(ExitCode.NOT_FOUND, f"{what} with {prefix!r}", "`toolmd tokens` lists them")
    (token,) = found
    file = _own_file(settings)
    if file is None:
        where = settings.origin.get("serve.tokens", "the settings")
        _by_hand(token, where)
    text = removed(file.read_text("utf-8"), token.sha256, header_of(file))
    if text is None:
        _by_hand(token, str(file))
    replace_file(file, text)
    err(f"Removed {token.sha256[:PREFIX]} of {printable(token.user)} from {file}; {NEXT}.")


def _by_hand(token: TokenSettings, where: str) -> NoReturn:
    what = f"the table of this token can't be removed from {where} by itself"
    stop(ExitCode.USAGE, what, f"remove the one with sha256 = {token.sha256}")


def _own_file(settings: Settings) -> Path | None:
    """Return the settings file; None if there is none, or a variable replaces its tokens."""
    origin = settings.origin.get("serve.tokens")
    return settings.file if origin in {None, str(settings.file)} else None


def _facts(token: TokenSettings) -> str:
    return ", ".join(f"{k}={'|'.join(map(printable, v))}" for k, v in token.context.items())
