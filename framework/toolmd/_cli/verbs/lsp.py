"""`lsp`: serve editors."""

import sys

from toolmd._cli.screen import err
from toolmd._cli.server.interrupts import end_at_interrupt
from toolmd.errors import ToolmdError


def lsp() -> None:
    """Serve an editor: diagnostics, completion, hover and fixes.

    An editor starts it and talks to it over stdio (docs/how-to/editor.md). It checks the project
    of each open document, as `check` does. Needs the extra `lsp`: pip install 'toolmd[lsp]'.
    """
    try:
        from toolmd._lsp import serve_editor
    except ModuleNotFoundError as error:
        missing = "the language server needs the package pygls: pip install 'toolmd[lsp]'"
        raise ToolmdError(missing) from error
    if sys.stdin.isatty():
        err("An editor starts this command and talks to it over stdio; Ctrl-C stops it.")
        err("help: docs/how-to/editor.md shows the settings of editors")
    serve_editor(ready=end_at_interrupt)
