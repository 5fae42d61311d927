"""The parser: markdown text to a typed spec and diagnostics; never runs code, never raises."""

from toolmark._parse.prose_policy import lint_tool
from toolmark._parse.skill import parse_skill
from toolmark._parse.source.text import decode
from toolmark._parse.tool import parse_tool
from toolmark._parse.writing.formatter import format_text
from toolmark._parse.writing.skill_text import skill_text
from toolmark._parse.writing.starter import new_text
from toolmark._parse.writing.tool_text import tool_text

__all__ = [
    "decode",
    "format_text",
    "lint_tool",
    "new_text",
    "parse_skill",
    "parse_tool",
    "skill_text",
    "tool_text",
]
