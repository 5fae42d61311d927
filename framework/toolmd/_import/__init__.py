"""Import existing tools and skills as drafts of canonical definitions."""

from collections.abc import Callable, Mapping

from toolmd._import import agentskills, mcp, openai, openapi, python
from toolmd._import.functions import read_function
from toolmd._import.report import ImportReport
from toolmd._import.text import draft
from toolmd._types.imported import Imported

__all__ = ["KINDS", "ImportReport", "draft", "read_function", "read_source"]

KINDS: Mapping[str, Callable[[str, str], Imported]] = {
    "openai": openai.read,
    "mcp": mcp.read,
    "agentskills": agentskills.read,
    "openapi": openapi.read,
    "python": python.read,
}
"""The reader of each kind of source: it receives the text and its name."""


def read_source(kind: str, text: str, name: str) -> Imported:
    """Read a text as one of KINDS; `name` is the file's, for details missing in the text.

    Raises UnreadableSourceError where the text is not of that kind.
    """
    return KINDS[kind](text, name)
