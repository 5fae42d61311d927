"""Decide which parts of a page list tools, by the headings above them."""

import re

from toolmd_catalog.layout.blocks import Part
from toolmd_catalog.layout.tool_headings import heading_of
from toolmd_catalog.words import clean

_TOOLS = re.compile(r"\btools?\b", re.IGNORECASE)
_CALLED = re.compile(
    r"\b(?:functions|methods|commands|actions|operations|capabilities|endpoints|api)\b",
    re.IGNORECASE,
)
_FEATURES = re.compile(r"\bfeatures\b", re.IGNORECASE)
_NEVER = re.compile(
    r"\b(?:install\w*|set-?up|config\w*|environment|usage|start\w*|prerequisites?|prompts?|"
    r"examples?|troubleshoot\w*|contribut\w*|licen[sc]e|changelog|roadmap|faq|resources|filter\w*|"
    r"variables?|flags|cli|requirements?|toolsets?|presets?)\b",
    re.IGNORECASE,
)
_ELSE = re.compile(
    r"\b(?:debug\w*|develop\w*|test\w*|deploy\w*|docker|clients?|architecture|structure|auth\w*|"
    r"support|migrat\w*|releases?|options|integrations?)\b",
    re.IGNORECASE,
)
"""What a heading below one of tools may be about as well."""


def mark_lists(parts: list[Part]) -> bool:
    """Mark the parts that stand where tools are listed; return whether there are any.

    The nearest heading that names a subject decides: `Tools`, `Configuration`. Features, and the
    title of the page, count only where no other heading speaks of tools.
    """
    title = next((part for part in parts if part.level == 1), None)
    return (
        _mark(parts, title, _TOOLS) or _mark(parts, title, _FEATURES) or _mark(parts, None, _TOOLS)
    )


def _mark(parts: list[Part], skipped: Part | None, subject: re.Pattern[str]) -> bool:
    above: list[Part] = []
    for part in parts:
        while above and above[-1].level >= part.level:
            above.pop()
        inside = above[-1].lists if above else None
        named = heading_of(part.heading.text) if part.level else None
        if part is not skipped and not (named and named.strong):
            inside = _said(clean(part.heading.text), subject, above=inside)
        part.lists = inside
        above.append(part)
    return any(part.lists for part in parts)


def _said(heading: str, subject: re.Pattern[str], *, above: bool | None) -> bool | None:
    """Return whether a heading announces tools, or something else; else what those above say."""
    if _NEVER.search(heading):
        return False
    if subject.search(heading):
        return True
    if _ELSE.search(heading):
        return above or False
    return True if _CALLED.search(heading) else above
