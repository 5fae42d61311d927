"""Put the Python of the tools that `[fence]` names into fenced processes."""

import fnmatch
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from toolmd._load.python.signature import Bond
from toolmd._load.source.files import whole_file
from toolmd._types.call_spec import DEFAULT_TIMEOUT_S, ToolCallSpec
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.registry import BoundTool, Implementation
from toolmd._types.settings import Settings
from toolmd.errors import did_you_mean

_HELP = "change the function, or take the tool out of [fence] in the settings"


def in_fence(found: Implementation, bond: Bond, settings: Settings) -> Implementation:
    """Return the implementation in a fence; what can't leave or enter one goes to the bond.

    Args:
        found: The implementation in this process.
        bond: The tool's definition and its function.
        settings: The project's settings.
    """
    # Projects without a fence import none of it.
    from toolmd._remote.fence.functions import fenced_functions

    spec = bond.call_spec
    assert isinstance(spec, ToolCallSpec)
    if bond.context is not None:
        message = f"{spec.name} runs in a fence, where no Context can follow it"
        bond.report(Code.UNFENCEABLE_TOOL, message, _HELP, python=bond.context)
    if found.mode == "stream":
        message = f"{spec.name} runs in a fence, from which nothing but one result comes back"
        bond.report(Code.UNFENCEABLE_TOOL, message, _HELP)
    seconds = spec.limits.timeout_s or DEFAULT_TIMEOUT_S
    function = fenced_functions(settings).function(spec.name, found.hash, seconds)
    return found._replace(
        function=function, mode="sync", names={}, resources={},
        converters={name: _Checked(convert) for name, convert in found.converters.items()},
    )  # fmt: skip


def fence_faults(settings: Settings, tools: Mapping[str, BoundTool]) -> Iterator[Diagnostic]:
    """Yield an error for each name in `[fence]` that fences nothing, since it may be misspelt."""
    path = settings.file.name if settings.file is not None else "toolmd.toml"
    for pattern in settings.fence.tools:
        named = fnmatch.filter(tools, pattern)
        if not named:
            message = f"[fence] names {pattern}, and no tool has this name"
            help_ = did_you_mean(pattern, tools) or "correct it, or take it out"
            yield whole_file(path, Code.UNFENCEABLE_TOOL, message, help_)
        for name in named:
            if tools[name].late is None and tools[name].binding.kind == "remote":
                message = f"[fence] names {name}, whose work is done elsewhere"
                help_ = (
                    "write folders and hosts into its server's table, and take it out of [fence]"
                )
                yield whole_file(path, Code.UNFENCEABLE_TOOL, message, help_)


def close_fenced(folder: Path) -> None:
    """End the fenced processes of a project that are idle; the others end after their call."""
    functions: Any = sys.modules.get("toolmd._remote.fence.functions")
    if functions is not None:
        functions.close(folder)


class _Checked:
    """Checks that a value can become the annotated type, and returns the value as it was.

    The fenced process makes it that type.
    """

    __slots__ = ("_convert",)

    def __init__(self, convert: Callable[[Any], Any]) -> None:
        self._convert = convert

    def __call__(self, value: Any) -> Any:
        self._convert(value)
        return value

    def __getattr__(self, name: str) -> Any:
        """Return what the converter says of a value that it rejects."""
        return getattr(self._convert, name)
