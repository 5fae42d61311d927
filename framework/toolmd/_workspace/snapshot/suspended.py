"""Name the tools whose server or service changed since they were accepted."""

from collections.abc import Mapping

from toolmd._remote.mcp.servers import Servers
from toolmd._remote.services import Services
from toolmd._store.store import Store
from toolmd._types.operation import read_operation
from toolmd._types.registry import BoundTool
from toolmd._types.remote_tool import read_remote_tool
from toolmd._types.settings import Settings


class SuspendedTools:
    """The tools of a snapshot that are implemented elsewhere, and which of them are suspended."""

    def __init__(self, tools: Mapping[str, BoundTool], settings: Settings, store: Store) -> None:
        """Find the tools of MCP servers and of web services."""
        self._servers, self._services = Servers(settings, store), Services(settings, store)
        named = [(name, bound.spec.implemented_by or "") for name, bound in tools.items()]
        self._remotes = {name: one for name, text in named if (one := read_remote_tool(text))}
        self._operations = {name: op for name, text in named if (op := read_operation(text))}

    def names(self) -> frozenset[str]:
        """Return the suspended tools, without asking a server or a service; it blocks."""
        remotes = self._servers.changed(self._remotes.values())
        operations = {one for one in self._operations.values() if self._services.changes(one)}
        return frozenset(
            [name for name, one in self._remotes.items() if one in remotes]
            + [name for name, one in self._operations.items() if one in operations]
        )
