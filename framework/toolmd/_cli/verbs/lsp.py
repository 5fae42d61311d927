"""`lsp`: the language server, for editors."""

import sys

import typer

from toolmd._cli.server.interrupts import end_at_interrupt
from toolmd._cli.terminal.screen import err
from toolmd.errors import ToolmdError


def add(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("lsp", rich_help_panel="Write")(lsp)


def lsp() -> None:
    """Serve an editor: diagnostics, completion, hover and fixes.

    An editor starts it, and speaks with it over stdio (docs/how-to/editor.md); it reads each
    project that a document belongs to, as `check` does. Needs the extra `lsp`:
    pip install 'toolmd[lsp]'.
    """
    try:
        from toolmd._lsp import serve_editor
    except ModuleNotFoundError as error:
        missing = "the language server needs the package pygls: pip install 'toolmd[lsp]'"
        raise ToolmdError(missing) from error
    if sys.stdin.isatty():
        err("This speaks with the editor that starts it, not with you; Ctrl-C ends it.")
        err("help: docs/how-to/editor.md says what editors must be told")
    serve_editor(ready=end_at_interrupt)
