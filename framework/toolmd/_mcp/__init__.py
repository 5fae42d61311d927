"""MCP: serve a workspace's tools and skills to MCP hosts, of the old and the new protocol."""

from importlib import import_module

from toolmd.errors import NO_MCP_SDK, ToolmdError


def require_sdk() -> None:
    """Raise ToolmdError with the remedy if the official SDK is not installed."""
    try:
        import_module("mcp.server.request_state")
    except ImportError as error:
        raise ToolmdError(NO_MCP_SDK.format(error)) from error
