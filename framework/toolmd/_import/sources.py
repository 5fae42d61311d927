"""Every kind of source by its name, and the one way to read it."""

from collections.abc import Callable, Mapping

from toolmd._import import agentskills, mcp, openai
from toolmd._types.imported import Imported

SourceReader = Callable[[str, str], Imported]
"""A source's text and name to its drafts."""

KINDS: Mapping[str, SourceReader] = {
    "openai": openai.read,
    "mcp": mcp.read,
    "agentskills": agentskills.read,
}
PACKAGED: Mapping[str, str] = {"catalog": "toolmd-catalog"}
"""Kinds that a package of this project reads, and the package."""


def read_source(kind: str, text: str, name: str) -> Imported:
    """Read a text as one of KINDS; `name` is the file's, for what the text leaves unsaid.

    Raises UnreadableSourceError where the text is not of that kind at all.
    """
    return KINDS[kind](text, name)
