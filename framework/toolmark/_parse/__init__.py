"""The parser: markdown text to a typed spec and diagnostics; never runs code, never raises."""

from toolmark._parse.definition import decode
from toolmark._parse.skill import parse_skill
from toolmark._parse.tool import parse_tool

__all__ = ["decode", "parse_skill", "parse_tool"]
