"""Toolmd: agent tools from one markdown file, read, checked, guarded and called."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # The names below come when they are first asked for: `import toolmd` alone costs nothing.
    from toolmd._chat import Conversation
    from toolmd._model.call import Budget, Call, Caller
    from toolmd._model.context import Context
    from toolmd._model.diagnostic import Diagnostic, Edit, Severity
    from toolmd._model.edit import HeldEdit, Loosening
    from toolmd._model.exchange import Decision, Exchange
    from toolmd._model.held import HeldCall
    from toolmd._model.pending import Pending
    from toolmd._model.registry import Bound, Registry
    from toolmd._model.reply import Dialect, Parsed
    from toolmd._model.result import Event, Failure, Held, Result, SkillResult
    from toolmd._model.run import Answer, Question, RunEvent, RunTrace, RunView
    from toolmd._model.schema import Parameter, Schema
    from toolmd._model.settings import Settings
    from toolmd._model.skill import SkillSpec
    from toolmd._model.source import Source, Span
    from toolmd._model.tool import ToolSpec
    from toolmd._model.turn import Turn
    from toolmd._model.verdict import Problem, Ruling, Verdict
    from toolmd._parse import parse_skill, parse_tool
    from toolmd._watch import Watcher
    from toolmd._workspace import Workspace
    from toolmd._workspace.changes import Changes
    from toolmd._workspace.confirmations import Confirmations
    from toolmd._workspace.runs.control import Runs
    from toolmd.config import load_settings
    from toolmd.errors import (
        ArgumentError,
        ConfigError,
        ImplementationError,
        MalformedReplyError,
        ModelError,
        NotFoundError,
        ToolError,
        ToolmdError,
        UnreachableError,
    )
    from toolmd.hooks import hookimpl, nonblocking

_ROOMS = {
    "toolmd._chat": ("Conversation",),
    "toolmd._model.call": ("Budget", "Call", "Caller"),
    "toolmd._model.context": ("Context",),
    "toolmd._model.diagnostic": ("Diagnostic", "Edit", "Severity"),
    "toolmd._model.exchange": ("Decision", "Exchange"),
    "toolmd._model.edit": ("HeldEdit", "Loosening"),
    "toolmd._model.held": ("HeldCall",),
    "toolmd._model.registry": ("Bound", "Registry"),
    "toolmd._model.reply": ("Dialect", "Parsed"),
    "toolmd._model.result": ("Event", "Failure", "Held", "Result", "SkillResult"),
    "toolmd._model.schema": ("Parameter", "Schema"),
    "toolmd._model.settings": ("Settings",),
    "toolmd._model.skill": ("SkillSpec",),
    "toolmd._model.source": ("Source", "Span"),
    "toolmd._model.tool": ("ToolSpec",),
    "toolmd._model.pending": ("Pending",),
    "toolmd._model.run": ("Answer", "Question", "RunEvent", "RunTrace", "RunView"),
    "toolmd._model.turn": ("Turn",),
    "toolmd._model.verdict": ("Problem", "Ruling", "Verdict"),
    "toolmd._parse": ("parse_skill", "parse_tool"),
    "toolmd._watch": ("Watcher",),
    "toolmd._workspace": ("Workspace",),
    "toolmd._workspace.changes": ("Changes",),
    "toolmd._workspace.confirmations": ("Confirmations",),
    "toolmd._workspace.runs.control": ("Runs",),
    "toolmd.config": ("load_settings",),
    "toolmd.errors": (
        "ArgumentError",
        "ConfigError",
        "ImplementationError",
        "MalformedReplyError",
        "ModelError",
        "NotFoundError",
        "ToolError",
        "ToolmdError",
        "UnreachableError",
    ),
    "toolmd.hooks": ("hookimpl", "nonblocking"),
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [
    "Answer",
    "ArgumentError",
    "Bound",
    "Budget",
    "Call",
    "Caller",
    "Changes",
    "ConfigError",
    "Confirmations",
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
    "HeldCall",
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
    "Question",
    "Registry",
    "Result",
    "Ruling",
    "RunEvent",
    "RunTrace",
    "RunView",
    "Runs",
    "Schema",
    "Settings",
    "Severity",
    "SkillResult",
    "SkillSpec",
    "Source",
    "Span",
    "ToolError",
    "ToolSpec",
    "ToolmdError",
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

        return version("toolmd")
    if (room := _HOME.get(name)) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(room), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
