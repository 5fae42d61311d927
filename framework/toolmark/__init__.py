"""Toolmark: agent tools from one markdown file, read, checked, guarded and called."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # The names below come when they are first asked for: `import toolmark` alone costs nothing.
    from toolmark._chat import Conversation
    from toolmark._model.call import Budget, Call, Caller
    from toolmark._model.context import Context
    from toolmark._model.diagnostic import Diagnostic, Edit, Severity
    from toolmark._model.edit import HeldEdit, Loosening
    from toolmark._model.exchange import Decision, Exchange
    from toolmark._model.registry import Bound, Registry
    from toolmark._model.reply import Dialect, Parsed
    from toolmark._model.result import Event, Failure, Held, Result, SkillResult
    from toolmark._model.schema import Parameter, Schema
    from toolmark._model.settings import Settings
    from toolmark._model.skill import SkillSpec
    from toolmark._model.source import Source, Span
    from toolmark._model.tool import ToolSpec
    from toolmark._model.turn import Pending, Turn
    from toolmark._model.verdict import Problem, Ruling, Verdict
    from toolmark._parse import parse_skill, parse_tool
    from toolmark._watch import Watcher
    from toolmark._workspace import Workspace
    from toolmark.config import load_settings
    from toolmark.errors import (
        ConfigError,
        ImplementationError,
        MalformedReplyError,
        ModelError,
        NotFoundError,
        ToolError,
        ToolmarkError,
        UnreachableError,
    )
    from toolmark.hooks import hookimpl, nonblocking

_ROOMS = {
    "toolmark._chat": ("Conversation",),
    "toolmark._model.call": ("Budget", "Call", "Caller"),
    "toolmark._model.context": ("Context",),
    "toolmark._model.diagnostic": ("Diagnostic", "Edit", "Severity"),
    "toolmark._model.exchange": ("Decision", "Exchange"),
    "toolmark._model.edit": ("HeldEdit", "Loosening"),
    "toolmark._model.registry": ("Bound", "Registry"),
    "toolmark._model.reply": ("Dialect", "Parsed"),
    "toolmark._model.result": ("Event", "Failure", "Held", "Result", "SkillResult"),
    "toolmark._model.schema": ("Parameter", "Schema"),
    "toolmark._model.settings": ("Settings",),
    "toolmark._model.skill": ("SkillSpec",),
    "toolmark._model.source": ("Source", "Span"),
    "toolmark._model.tool": ("ToolSpec",),
    "toolmark._model.turn": ("Pending", "Turn"),
    "toolmark._model.verdict": ("Problem", "Ruling", "Verdict"),
    "toolmark._parse": ("parse_skill", "parse_tool"),
    "toolmark._watch": ("Watcher",),
    "toolmark._workspace": ("Workspace",),
    "toolmark.config": ("load_settings",),
    "toolmark.errors": (
        "ConfigError",
        "ImplementationError",
        "MalformedReplyError",
        "ModelError",
        "NotFoundError",
        "ToolError",
        "ToolmarkError",
        "UnreachableError",
    ),
    "toolmark.hooks": ("hookimpl", "nonblocking"),
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [
    "Bound",
    "Budget",
    "Call",
    "Caller",
    "ConfigError",
    "Context",
    "Conversation",
    "Decision",
    "Diagnostic",
    "Dialect",
    "Edit",
    "Event",
    "Exchange",
    "Failure",
    "Held",
    "HeldEdit",
    "ImplementationError",
    "Loosening",
    "MalformedReplyError",
    "ModelError",
    "NotFoundError",
    "Parameter",
    "Parsed",
    "Pending",
    "Problem",
    "Registry",
    "Result",
    "Ruling",
    "Schema",
    "Settings",
    "Severity",
    "SkillResult",
    "SkillSpec",
    "Source",
    "Span",
    "ToolError",
    "ToolSpec",
    "ToolmarkError",
    "Turn",
    "UnreachableError",
    "Verdict",
    "Watcher",
    "Workspace",
    "hookimpl",
    "load_settings",
    "nonblocking",
    "parse_skill",
    "parse_tool",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("toolmark")
    if (room := _HOME.get(name)) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(room), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
