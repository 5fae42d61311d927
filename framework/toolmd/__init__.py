"""Toolmd: parse, check, guard and call agent tools that are defined in markdown files."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # These names are imported on first access, so that `import toolmd` alone is fast.
    from toolmd._call.checks import not_stated
    from toolmd._chat import Conversation
    from toolmd._parse import parse_skill, parse_tool
    from toolmd._types.call import Budget, Call, Caller
    from toolmd._types.confirmation import Confirmation
    from toolmd._types.context import Context
    from toolmd._types.decision import Approver, Decision
    from toolmd._types.diagnostic import Diagnostic, Edit, Severity, Source, Span
    from toolmd._types.parts import File, Image
    from toolmd._types.pending_change import PendingChange, Weakening
    from toolmd._types.registry import Bound, Registry
    from toolmd._types.resources import Resources
    from toolmd._types.result import Event, Failure, Result, SkillResult
    from toolmd._types.run import Answer, Question, RunEvent, RunTrace, RunView
    from toolmd._types.schema import Parameter, Schema
    from toolmd._types.settings import Settings
    from toolmd._types.skill import SkillSpec
    from toolmd._types.stored import Crisis
    from toolmd._types.tool import ToolSpec
    from toolmd._types.turn import Dialect, Exchange, Parsed, Turn
    from toolmd._types.verdict import Action, Problem, Verdict
    from toolmd._watch import Watcher
    from toolmd._workspace import Workspace
    from toolmd._workspace.confirmations import Confirmations, Crises
    from toolmd._workspace.runs import Runs
    from toolmd._workspace.workspace import Changes
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
    "toolmd._call.checks": ("not_stated",),
    "toolmd._chat": ("Conversation",),
    "toolmd._types.call": ("Budget", "Call", "Caller"),
    "toolmd._types.context": ("Context",),
    "toolmd._types.diagnostic": ("Diagnostic", "Edit", "Severity", "Source", "Span"),
    "toolmd._types.decision": ("Approver", "Decision"),
    "toolmd._types.pending_change": ("PendingChange", "Weakening"),
    "toolmd._types.confirmation": ("Confirmation",),
    "toolmd._types.registry": ("Bound", "Registry"),
    "toolmd._types.turn": ("Dialect", "Exchange", "Parsed", "Turn"),
    "toolmd._types.resources": ("Resources",),
    "toolmd._types.result": ("Event", "Failure", "Result", "SkillResult"),
    "toolmd._types.schema": ("Parameter", "Schema"),
    "toolmd._types.settings": ("Settings",),
    "toolmd._types.skill": ("SkillSpec",),
    "toolmd._types.tool": ("ToolSpec",),
    "toolmd._types.stored": ("Crisis",),
    "toolmd._types.parts": ("File", "Image"),
    "toolmd._types.run": ("Answer", "Question", "RunEvent", "RunTrace", "RunView"),
    "toolmd._types.verdict": ("Problem", "Action", "Verdict"),
    "toolmd._parse": ("parse_skill", "parse_tool"),
    "toolmd._watch": ("Watcher",),
    "toolmd._workspace": ("Workspace",),
    "toolmd._workspace.workspace": ("Changes",),
    "toolmd._workspace.confirmations": ("Confirmations", "Crises"),
    "toolmd._workspace.runs": ("Runs",),
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
    "Action",
    "Answer",
    "Approver",
    "ArgumentError",
    "Bound",
    "Budget",
    "Call",
    "Caller",
    "Changes",
    "ConfigError",
    "Confirmation",
    "Confirmations",
    "Context",
    "Conversation",
    "Crises",
    "Crisis",
    "Decision",
    "Diagnostic",
    "Dialect",
    "Edit",
    "Event",
    "Exchange",
    "Failure",
    "File",
    "Image",
    "ImplementationError",
    "MalformedReplyError",
    "ModelError",
    "NotFoundError",
    "Parameter",
    "Parsed",
    "PendingChange",
    "Problem",
    "Question",
    "Registry",
    "Resources",
    "Result",
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
    "Weakening",
    "Workspace",
    "hookimpl",
    "load_settings",
    "nonblocking",
    "not_stated",
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
