"""Register the gateway: the tools of MCP servers, and the operations of web services."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from toolmd._types.remote import read_operation, read_remote_tool
from toolmd.hooks import hookimpl

if TYPE_CHECKING:
    from toolmd._gateway.servers import Servers
    from toolmd._gateway.services import Services
    from toolmd._store.store import Store
    from toolmd._types.call_spec import CallSpec
    from toolmd._types.registry import Binding
    from toolmd._types.settings import Settings


class ProjectGateway:
    """The servers and the services of one project; projects without them import neither."""

    def __init__(self, settings: "Settings", store: "Store") -> None:
        """Keep the settings, and the store of what was accepted."""
        self._settings = settings
        self._store = store
        self._servers: Servers | None = None
        self._services: Services | None = None

    def bind(self, named_by: str, call_spec: "Callable[[], CallSpec]") -> "Binding | None":
        """Return the binding of `mcp SERVER TOOL` or `http METHOD PATH`; None for other names."""
        if (remote := read_remote_tool(named_by)) is not None:
            from toolmd._gateway.tools import bind_remote_tool

            return bind_remote_tool(remote, call_spec, self._mcp())
        if (operation := read_operation(named_by)) is not None:
            from toolmd._gateway.operations import bind_operation

            return bind_operation(operation, call_spec, self._http())
        return None

    def suspended(self, named_by: Mapping[str, str]) -> Iterable[str]:
        """Return the tools whose server or service changed since they were accepted."""
        remotes = {name: one for name, text in named_by.items() if (one := read_remote_tool(text))}
        changed = self._mcp().changed(remotes.values()) if remotes else ()
        operations = {name: op for name, text in named_by.items() if (op := read_operation(text))}
        found = self._http().changed(operations.values()) if operations else ()
        return [
            *(name for name, one in remotes.items() if one in changed),
            *(name for name, one in operations.items() if one in found),
        ]

    def close(self) -> None:
        """End the sessions with the project's servers."""
        if self._servers is not None:
            self._servers.close()

    def _mcp(self) -> "Servers":
        if self._servers is None:
            from toolmd._gateway.servers import Servers

            self._servers = Servers(self._settings, self._store)
        return self._servers

    def _http(self) -> "Services":
        if self._services is None:
            from toolmd._gateway.services import Services

            self._services = Services(self._settings, self._store)
        return self._services


@hookimpl
def toolmd_gateways(settings: "Settings", store: "Store") -> ProjectGateway:
    """Return the gateway of a snapshot."""
    return ProjectGateway(settings, store)
