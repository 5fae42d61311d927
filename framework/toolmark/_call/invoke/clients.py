"""What a tool's HTTP client may reach: its file's Allowed Domains and the operator's origins."""

from collections.abc import Callable, Iterable
from typing import Any

from toolmark._call.crash import logged
from toolmark._egress import Approved, open_client
from toolmark._model.skill import SkillSpec
from toolmark._model.tool import ToolSpec


class Clients:
    """Opens the clients of one snapshot's calls."""

    def __init__(self, origins: Callable[[ToolSpec], Iterable[str]] | None) -> None:
        """`origins` gives what the operator approved for a tool; it is asked once a tool."""
        self._origins = origins
        self._approved: dict[str, Approved] = {}

    def open(self, spec: ToolSpec | SkillSpec, seconds: float) -> Any:
        """Give an `httpx.AsyncClient` for one call, which has so many seconds."""
        approved = self._approved.get(spec.name)
        if approved is None:
            approved = self._approved[spec.name] = self._of(spec)
        return open_client(spec.name, approved, seconds)

    def _of(self, spec: ToolSpec | SkillSpec) -> Approved:
        """Read what is approved; a skill calls tools, and reaches nothing by itself."""
        if isinstance(spec, SkillSpec):
            return Approved(spec.source.path)
        origins: tuple[str, ...] = ()
        try:
            if self._origins is not None:
                origins = tuple(self._origins(spec))
        except Exception as error:  # noqa: BLE001 - a failure approves nothing
            logged(error, "the approved origins of %s can't be told", spec.name)
        return Approved(spec.source.path, spec.limits.allowed_domains, origins)
