"""The HTTP clients of tools: limited to Allowed Domains and the operator's origins."""

from collections.abc import Callable, Iterable
from typing import Any

from toolmd._egress import Approved, open_client
from toolmd._types.call_spec import CallSpec, ToolCallSpec
from toolmd.errors import logged


class Clients:
    """The clients of one snapshot's calls."""

    def __init__(self, origins: Callable[[str], Iterable[str]] | None) -> None:
        """Keep `origins`, which returns the approved origins of a tool; called once a tool."""
        self._origins = origins
        self._approved: dict[str, Approved] = {}

    def open(self, call_spec: CallSpec, seconds: float) -> Any:
        """Return an `httpx.AsyncClient` for one call with its deadline in seconds."""
        return open_client(call_spec.name, self.approved(call_spec), seconds)

    def approved(self, call_spec: CallSpec) -> Approved:
        """Return what a tool may reach. The first time plugins are asked, which may block."""
        approved = self._approved.get(call_spec.name)
        if approved is None:
            approved = self._approved[call_spec.name] = self._of(call_spec)
        return approved

    def _of(self, call_spec: CallSpec) -> Approved:
        """Read what is approved; a skill itself may reach nothing."""
        if not isinstance(call_spec, ToolCallSpec):
            return Approved(call_spec.source.path)
        origins: tuple[str, ...] = ()
        try:
            if self._origins is not None:
                origins = tuple(self._origins(call_spec.name))
        except Exception as error:  # noqa: BLE001 - a failure approves nothing
            logged(error, "the approved origins of %s can't be told", call_spec.name)
        return Approved(call_spec.source.path, call_spec.limits.allowed_domains, origins)
