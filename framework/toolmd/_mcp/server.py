"""The MCP server of a workspace: the SDK's low-level server with Toolmd's handlers."""

from importlib.metadata import version
from secrets import token_bytes
from typing import Any

from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    NotificationParams,
    PaginatedRequestParams,
)
from pydantic import ValidationError

from toolmd._mcp.callers import Callers
from toolmd._mcp.calls import Calls
from toolmd._mcp.changes import ListChanges
from toolmd._mcp.direct import Direct
from toolmd._mcp.skills import EXTENSION, Skills, UriParams
from toolmd._types.call import Caller
from toolmd._workspace import Workspace
from toolmd.errors import logged

NAME = "toolmd"
INSTRUCTIONS = (
    "A denied call returns a stable code, the argument that is wrong, and the values it accepts."
)
_LISTS = ("resources/list", "resources/templates/list", "resources/read")


class McpServer:
    """A server of one workspace for any number of clients; pass `low` to a transport."""

    def __init__(self, workspace: Workspace, who: Callers, key: bytes | None = None) -> None:
        """Prepare to serve.

        Args:
            workspace: The workspace to serve.
            who: Returns the caller of a request, fixed or by its token.
            key: The 32 bytes that seal the state of a request, if other processes may get the
                answer; by default, a key of this process.
        """
        self.changes = ListChanges(workspace)
        self.calls = Calls(workspace, who, self.changes)
        self.skills = Skills(workspace)
        self.low: Server[Any] = _Low(
            NAME,
            version=version("toolmd"),
            instructions=INSTRUCTIONS,
            # A save may change every list.
            cache_hints={method: CacheHint(ttl_ms=0, scope="private") for method in _LISTS},  # type: ignore[misc]
            # It would compare arguments with headers that a schema names, and none of ours does.
            get_tool_input_schema=lambda _: None,
            on_list_resources=self.skills.list_resources,
            on_list_resource_templates=self.skills.list_templates,
            on_read_resource=self.skills.read_resource,
            on_subscriptions_listen=self.changes.listen,
        )
        self.low.extensions[EXTENSION] = {"directoryRead": True}
        add = self.low.add_request_handler
        add("tools/list", PaginatedRequestParams, self.calls.list_tools)
        add("tools/call", CallToolRequestParams, self.calls.call_tool)
        add("skills/list", PaginatedRequestParams, self.skills.list_skills)
        add("skills/get", UriParams, self.skills.get_skill)
        add("resources/directory/read", UriParams, self.skills.read_folder)
        self.low.add_notification_handler(
            "notifications/initialized", NotificationParams, self.changes.initialized
        )
        security = RequestStateSecurity(keys=[key or token_bytes(32)], ttl=600)
        security.bind_principal = lambda ctx: _principal(who(ctx), may_decide=who.may_decide(ctx))
        self.direct = Direct(self.calls, who, self.low.server_info_stamp)
        self.low.middleware.append(self.direct.learn)
        self.low.middleware.append(keep_crashes)
        self.low.middleware.append(one_page)
        self.low.middleware.append(RequestStateBoundary(security, default_audience=NAME))

    async def changed(self) -> None:
        """Notify every client of a new snapshot, once."""
        await self.changes.changed()

    def changed_soon(self) -> None:
        """Schedule `changed`; any thread may call this."""
        self.changes.changed_soon()


class _Low(Server[Any]):
    """The SDK's server, which also announces list changes to clients of the old protocol."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        options = notification_options or NotificationOptions(
            tools_changed=True, resources_changed=True
        )
        return super().create_initialization_options(options, experimental_capabilities, extensions)


def _principal(caller: Caller, *, may_decide: bool) -> str:
    facts = sorted(caller.context.items())
    return repr((caller.user, caller.via, caller.roles, facts, may_decide))


async def one_page(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Serve one request; each list has one page, so no cursor was ever given."""
    if ctx.method.endswith("/list") and (ctx.params or {}).get("cursor") is not None:
        raise MCPError(INVALID_PARAMS, "There is no such page: ask without a cursor.")
    return await call_next(ctx)


async def keep_crashes(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Serve one request; the SDK would send a crash's details to clients of the old protocol."""
    try:
        return await call_next(ctx)
    except (MCPError, ValidationError):
        raise  # The protocol has its own answer for these.
    except Exception as error:
        reference = logged(error, "%s failed", ctx.method)
        message = f"The server failed; its log has the reason under {reference}."
        raise MCPError(INTERNAL_ERROR, message) from error
