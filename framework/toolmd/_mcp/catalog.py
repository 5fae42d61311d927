"""List the tools of a snapshot, and its skills that can run, in the protocol's form."""

import asyncio
from dataclasses import dataclass, replace
from typing import Any

from mcp.types import Tool

from toolmd._export.exported import Exported
from toolmd._export.function import CONFIDENCE
from toolmd._export.mcp import WRAPPED
from toolmd._mcp.content import gives_blocks
from toolmd._types.registry import Registry
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec
from toolmd._workspace import Workspace
from toolmd._workspace.names import Names


@dataclass(frozen=True, slots=True)
class Listed:
    """A tool as clients see it, and its definition."""

    tool: Tool
    spec: ToolSpec | SkillSpec
    wrapped: bool
    """Whether the result is in `structuredContent.result`."""
    blocks: bool
    """Whether the result is content blocks: images, audio, resources."""

    @property
    def takes_confidence(self) -> bool:
        """Whether a call states the model's confidence."""
        properties: dict[str, Any] = self.tool.input_schema["properties"]
        own = {parameter.name for parameter in self.spec.parameters}
        return CONFIDENCE in properties and CONFIDENCE not in own


class Catalog:
    """The list of the current snapshot, sorted by name, built once for each snapshot."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._made: tuple[Registry, bool, dict[str, Listed]] | None = None

    def find(self, name: str) -> Listed | None:
        """Return an entry of the last list that was made, without a look at the store."""
        return None if self._made is None else self._made[2].get(name)

    async def load(self) -> dict[str, Listed]:
        """Return what `listed` returns; it is made next to the event loop."""
        made = self._made
        if made is not None and made[0] is self._workspace.registry:
            return made[2]
        return await self.reload()

    async def reload(self) -> dict[str, Listed]:
        """Return what `listed` returns, after a look at whether results are kept."""
        return await asyncio.to_thread(lambda: self.listed)

    @property
    def listed(self) -> dict[str, Listed]:
        """The tools and skills that can be called, by their listed names."""
        made = self._made
        is_open = self._workspace.results.is_open()
        while made is None or made[0] is not self._workspace.registry or made[1] is not is_open:
            # Build again if a reload came in between: a list must not mix two snapshots.
            registry = self._workspace.registry
            tools = self._workspace.results.tools()
            exported = self._workspace.exported("mcp")
            made = registry, is_open, _listed(replace(registry, tools=tools), exported)
            self._made = made
        return made[2]


def _listed(registry: Registry, exported: Exported) -> dict[str, Listed]:
    names = Names(registry)
    assert isinstance(exported.items, list)
    made = {}
    for item in sorted(exported.items, key=lambda item: str(item["name"])):
        bound = names.find(item["name"])
        if bound is None:
            continue
        spec = bound.spec
        blocks = isinstance(spec, ToolSpec) and gives_blocks(spec.returns)
        shown = {k: v for k, v in item.items() if not (blocks and k == "outputSchema")}
        wrapped = bool(item["_meta"].get(WRAPPED))
        made[item["name"]] = Listed(Tool.model_validate(shown), spec, wrapped, blocks)
    return made
