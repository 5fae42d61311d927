"""The parser: turn markdown text into a typed spec and diagnostics; run no code, never raise."""

from toolmd._parse.page import decode
from toolmd._parse.prose_policy import lint_tool
from toolmd._parse.skill import parse_skill
from toolmd._parse.tool import parse_tool
from toolmd._parse.writing.formatter import format_text
from toolmd._parse.writing.texts import skill_text, tool_text

__all__ = [
    "decode",
    "format_text",
    "lint_tool",
    "parse_skill",
    "parse_tool",
    "skill_text",
    "tool_text",
]
