"""`tokens new`: make a token for `toolmd serve` over HTTP, and its table for the settings."""

import json as jsons
from pathlib import Path
from typing import Annotated

import typer

from toolmd._cli.frame import Answer, allowed_of, rights_of, user_of
from toolmd.config import PROJECT_FILE, load_settings

AllowedOption = Annotated[
    list[str] | None,
    typer.Option(
        "--context",
        metavar="KEY=VALUE",
        help="A value that its requests may state for a fact, such as patient=P-1001; may be "
        "repeated, also for one fact.",
    ),
]


def new(
    *,
    user: Annotated[
        str,
        typer.Option("--user", metavar="ID", help="The user of its calls.", callback=user_of),
    ],
    may: Annotated[
        str,
        typer.Option("--may", metavar="RIGHTS", help="By commas: call, decide, operate, act_as."),
    ] = "call",
    context: AllowedOption = None,
    project: Path | None,
) -> Answer:
    """Make a token, print it once, and show the table that the settings need.

    A token for a model's host may `call` only, so that a model can't approve its own calls. A
    person who confirms has one that may `decide`; `operate` is for the operators of the system. To
    revoke a token, remove its table. A running server reads the settings at SIGHUP, with --follow
    at once.
    """
    from toolmd._auth.tokens import digest_of, fresh_token

    file = load_settings(project).file
    secret = fresh_token()
    rights, facts = rights_of(may), allowed_of(context)
    value = {"token": secret, "sha256": digest_of(secret), "user": user, "may": [*rights],
             "context": {fact: [*values] for fact, values in facts.items()}}  # fmt: skip
    prefix = "tool.toolmd." if file is not None and file.name == PROJECT_FILE else ""
    table = [f"[[{prefix}serve.tokens]]"]
    table += [f"{key} = {_toml(value[key])}" for key in ("sha256", "user", "may")]
    if facts:
        table.append(f"context = {{ {', '.join(f'{k} = {_toml(v)}' for k, v in facts.items())} }}")
    lines = [
        f"Add this to {file or 'toolmd.toml'}:",
        "",
        *table,
        "",
        "The token is printed only now; keep it as you keep a password.",
    ]
    return Answer(value, secret, lines)


def _toml(value: object) -> str:
    return jsons.dumps(value, ensure_ascii=False)
