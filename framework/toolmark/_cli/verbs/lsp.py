"""`lsp`: the language server, for editors."""

import sys

import typer

from toolmark._cli.terminal.exits import ExitCode
from toolmark._cli.terminal.options import stop
from toolmark._cli.terminal.screen import err


def add(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("lsp", rich_help_panel="Write")(lsp)


def lsp() -> None:
    """Serve an editor over stdio: diagnostics, completion, hover, fixes (docs/how-to/editor.md).

    An editor starts it; it reads each project that a document belongs to, as `check` does.
    """
    try:
        from toolmark._lsp import serve_editor
    except ModuleNotFoundError as error:
        stop(ExitCode.USAGE, f"{error.name} is not installed", "pip install 'toolmark[lsp]'")
    if sys.stdin.isatty():
        err("This speaks with the editor that starts it, not with you; Ctrl-C ends it.")
        err("help: docs/how-to/editor.md says what editors must be told")
    serve_editor()
