"""`lsp`: the language server, for editors."""

import sys

import typer

from toolmark._cli.server.interrupts import end_at_interrupt
from toolmark._cli.terminal.screen import err
from toolmark.errors import ToolmarkError


def add(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("lsp", rich_help_panel="Write")(lsp)


def lsp() -> None:
    """Serve an editor: diagnostics, completion, hover and fixes.

    An editor starts it, and speaks with it over stdio (docs/how-to/editor.md); it reads each
    project that a document belongs to, as `check` does.
    """
    try:
        from toolmark._lsp import serve_editor
    except ModuleNotFoundError as error:
        missing = "the language server needs the package pygls: pip install 'toolmark[lsp]'"
        raise ToolmarkError(missing) from error
    if sys.stdin.isatty():
        err("This speaks with the editor that starts it, not with you; Ctrl-C ends it.")
        err("help: docs/how-to/editor.md says what editors must be told")
    serve_editor(ready=end_at_interrupt)
