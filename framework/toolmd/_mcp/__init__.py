"""MCP: a workspace's tools and skills for every host that speaks it, in both protocol eras."""

from importlib import import_module

from toolmd.errors import ToolmdError


def require_sdk() -> None:
    """See that the official SDK is there; raises ToolmdError with the remedy where it is not."""
    try:
        import_module("mcp.server.request_state")
    except ImportError as error:
        missing = f"MCP needs the package mcp 2.3 or later ({error})"
        raise ToolmdError(f"{missing}: pip install 'toolmd[mcp]'") from error
