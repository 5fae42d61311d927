"""Fail, always."""

from toolmd.errors import ToolError


def test_error_handling() -> str:
    raise ToolError("This tool intentionally returns an error for testing", code="intended")
