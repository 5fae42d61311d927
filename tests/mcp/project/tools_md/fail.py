"""Fail with a word of its own."""

from toolmd.errors import ToolError


def fail() -> str:
    raise ToolError("The shop is closed.", code="closed")
