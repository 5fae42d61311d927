"""An editor's door: what is wrong, what may be written here, and what it means, while one types."""

from toolmd._lsp.serving import serve_editor

__all__ = ["serve_editor"]
