"""Find the reader of each kind of source by name."""

from collections.abc import Callable, Mapping

from toolmd._import import agentskills, mcp, openai, openapi, python
from toolmd._types.imported import Imported

SourceReader = Callable[[str, str], Imported]
"""Reads a source's text and name, and returns its drafts."""

KINDS: Mapping[str, SourceReader] = {
    "openai": openai.read,
    "mcp": mcp.read,
    "agentskills": agentskills.read,
    "openapi": openapi.read,
    "python": python.read,
}
PACKAGED: Mapping[str, str] = {"catalog": "toolmd-catalog"}
"""Kinds that a separate package of this project reads, and the package."""


def read_source(kind: str, text: str, name: str) -> Imported:
    """Read a text as one of KINDS; `name` is the file's, for details missing in the text.

    Raises UnreadableSourceError where the text is not of that kind.
    """
    return KINDS[kind](text, name)
