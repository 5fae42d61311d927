"""Fail with a word of its own."""

from toolmark.errors import ToolError


def fail() -> str:
    raise ToolError("The shop is closed.", code="closed")
