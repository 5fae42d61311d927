"""The language server: diagnostics, completion and hover for editors."""

from toolmd._lsp.serving import serve_editor

__all__ = ["serve_editor"]
