"""Convert any accepted form of a definition to the canonical one, and keep its comments."""

from collections.abc import Callable, Mapping

from toolmd._parse.blocks import Block, Bullets, Comment, Paragraph, Table
from toolmd._parse.document.front_matter import front_comments
from toolmd._parse.outline import outline, source_lines
from toolmd._parse.page import Page
from toolmd._parse.skill import parse_skill
from toolmd._parse.tool import parse_tool
from toolmd._parse.words import comments, fold, heading_text
from toolmd._parse.writing.texts import skill_text, tool_text
from toolmd._types.diagnostic import SUFFIXES, Diagnostic
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec

AnyDefinition = ToolSpec | SkillSpec


Parser = Callable[..., tuple[AnyDefinition | None, tuple[Diagnostic, ...]]]
"""Parses one kind of file, as `parse_tool` does."""
PARSERS: Mapping[str, Parser] = {"tool": parse_tool, "skill": parse_skill}


def kind_of(path: str) -> str | None:
    """Return the kind that a file's name states: `tool` or `skill`; None for others."""
    return next((kind for suffix, kind in SUFFIXES.items() if path.endswith(suffix)), None)


def format_text(text: str, path: str) -> str | None:
    """Format a definition in the canonical form.

    The result parses to a spec of the same hash: formatting never changes a meaning.

    Args:
        text: the content of the file.
        path: the file's path; its suffix says whether it is a tool or a skill.

    Returns:
        The canonical text, or None if the text has an error or a value without a canonical form.
    """
    parse = PARSERS[kind_of(path) or "tool"]
    spec, _ = parse(text, path)
    if spec is None:
        return None
    written = _with_comments(text, _canonical(spec))
    again, _ = parse(written, path)
    return written if again is not None and again.hash == spec.hash else None


def _canonical(spec: AnyDefinition) -> str:
    return skill_text(spec) if isinstance(spec, SkillSpec) else tool_text(spec)


def _with_comments(text: str, written: str) -> str:
    """Move each comment of a text to the end of its part."""
    page = Page("", source_lines(text))
    front = front_comments(page)
    if "<!--" not in text and not front:
        return written
    lines = written.rstrip("\n").split("\n")
    if front:
        at = _end_of(lines, fold("Metadata"))
        lines[at:at] = [line for comment in front for line in ("", f"<!-- {comment} -->")]
    for part in outline(page):
        found = [*comments(part.heading.text), *_comments(part.blocks)]
        if found:
            at = _end_of(lines, fold(heading_text(part.heading.text)))
            lines[at:at] = [line for comment in found for line in ("", *comment.split("\n"))]
    return "\n".join(lines) + "\n"


def _comments(blocks: list[Block]) -> list[str]:
    found: list[str] = []
    for block in blocks:
        match block:
            case Comment():
                found.append(block.mark.text)
            case Paragraph():
                found += comments(block.mark.text)
            case Bullets():
                for item in block.items:
                    found += comments(item.mark.text)
                    found += [*item.comments, *_comments(item.blocks)]
            case Table():
                for cell in [cell for row in [block.head, *block.rows] for cell in row]:
                    found += comments(cell.text)
            case _:
                pass
    return found


def _end_of(lines: list[str], heading: str) -> int:
    """Return the end of the part below a heading, or of the file if the heading is missing."""
    start, fenced = 0, False
    for number, line in enumerate(lines):
        fenced ^= line.startswith("```")
        if fenced or not line.startswith("#"):
            continue
        if start:
            return _before_blank(lines, number)
        if fold(heading_text(line.lstrip("# "))) == heading or not heading:
            start = number + 1
    return len(lines)


def _before_blank(lines: list[str], at: int) -> int:
    while at and not lines[at - 1].strip():
        at -= 1
    return at
