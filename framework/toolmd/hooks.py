"""The hooks that a plugin may implement, and their markers.

A plugin is a module or an object with functions marked `@hookimpl`. It is found through the
entry-point group `toolmd` of an installed package, as `plugin.py` at the root of a folder of
definitions, or as an implementation next to its markdown. Toolmd calls each hook by keyword, so an
implementation declares only the arguments that it needs. None means no answer. Toolmd calls a hook
once per snapshot, unless its section says when, and names the plugin of an invalid value.
"""

import sys
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import pluggy

from toolmd._types.call import Call, Caller
from toolmd._types.resources import Resources
from toolmd._types.result import Result
from toolmd._types.settings import Settings
from toolmd._types.verdict import Verdict

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    import typer

    from toolmd._store.store import Store
    from toolmd._types.imported import Imported
    from toolmd._types.registry import Gateway

    # They need pydantic, and a process's first call should not wait for its import.
    from toolmd._types.skill import SkillSpec
    from toolmd._types.tool import ToolSpec
    from toolmd._types.turn import Dialect

PROJECT = "toolmd"
GROUP = "toolmd"
"""The entry-point group of plugins."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a function as an implementation of the hook of the same name."""

Guard = Callable[[Call, Mapping[str, Any]], Verdict | Awaitable[Verdict | None] | None]
"""Returns a verdict on one call and its validated arguments; None means no opinion.

An async guard with a parameter `context` counts by `await context.quota("refunds", 3, key=user,
per="day")`, which denies where too little is left.
"""
Exporter = Callable[[Sequence["ToolSpec"], Sequence["SkillSpec"]], list[dict[str, Any]] | str]
Importer = Callable[..., "Mapping[str, str] | Imported"]
"""Reads a source (path or URL); returns markdown by file name, or a closed `ImportReport`."""


def new_manager() -> pluggy.PluginManager:
    """Return a manager with these hooks and without plugins."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(sys.modules[__name__])
    return manager


INLINE = "__toolmd_inline__"
_Function = TypeVar("_Function", bound=Callable[..., Any])


def nonblocking(function: _Function) -> _Function:
    """Mark a sync function as quick: it runs in the event loop, not in a worker thread."""
    setattr(function, INLINE, True)
    return function


@hookspec
def toolmd_definitions() -> Iterable["Path | Traversable | str"]:  # type: ignore[empty-body]
    """Return folders or files of definitions, with their Python next to them.

    A package returns its own `importlib.resources.files(...)`. If the hook fails, the package's
    definitions do not load, and a diagnostic reports it.
    """


@hookspec
def toolmd_default_min() -> float:  # type: ignore[empty-body]
    """Return the minimum confidence (0..1) for the plugin's own tools that set none.

    It is a restriction: if the hook fails, the plugin's tools do not load. A project writes
    `safety.default_min` in its settings instead.
    """


@hookspec
def toolmd_crisis_words() -> Iterable[str]:  # type: ignore[empty-body]
    """Return words and phrases of a user that may signal a crisis, for a package of tools.

    A message with one of them sends all calls of the project that are not Read Only to review. It
    is a restriction: if the hook fails, the plugin's tools do not load. A project writes
    `safety.crisis_words` in its settings instead.
    """


@hookspec
def toolmd_doubt_words() -> Iterable[str]:  # type: ignore[empty-body]
    """Return words and phrases of doubt in other languages than English, such as `nicht`.

    A user's sentence with one of them neither asks for a tool nor states a value for certain: a
    person is asked, or the call is denied. The words of all plugins count in every message. It is a
    restriction: if the hook fails, the calls of tools that need the user's words are denied.
    """


@hookspec
def toolmd_intent(
    kind: Literal["intent", "verbatim", "crisis"],
    wanted: Sequence[str],
    messages: Sequence[str],
    call: Call,
) -> "Literal['clear', 'unclear', 'absent'] | Awaitable[str] | None":
    """Return what a user's messages say, in place of the rule of words.

    Called for each call of a tool with Explicit Intent or Verbatim, and, in a project with crisis
    words, for the message of each call. An async function is awaited: a model may stand behind it.
    The first answer that is not None counts; without one the words decide. If the hook fails,
    takes longer than 30 s or answers anything else, it is `unclear`.

    Args:
        kind: `intent`: whether the messages ask for the tool. `verbatim`: whether they state a
            value. `crisis`: whether the message is about a crisis; return None for a kind that the
            plugin does not answer.
        wanted: The tool's Intent Keywords, the texts of the value, or the crisis words.
        messages: The user's messages of the conversation since the last executed call, the newest
            last.
        call: The call. Its arguments are validated, and lack the defaults.

    Returns:
        `clear` lets the call go on, `unclear` asks a person, and `absent` denies it unless a person
        is asked in any case. For `crisis`, `clear` and `unclear` set the crisis flag.
    """


@hookspec
def toolmd_authenticate(
    headers: Mapping[str, str],
) -> "Caller | tuple[Caller, Collection[str]] | Awaitable[Any] | None":
    """Return who sent a request over HTTP, such as by a client certificate that a proxy checked.

    Called for each request (API, console and MCP) whose token is neither in the settings nor of an
    issuer. An async function is awaited. The first answer that is not None counts; without one the
    request is denied. If the hook fails, takes longer than 10 s or answers anything else, the
    request gets a 401 with a log reference.

    Args:
        headers: The request's headers by their names in lower case, `authorization` too; without
            those that it repeats.

    Returns:
        The caller, with a user, who may call; or the caller and a list of rights: `call`, `decide`,
        `operate`.
    """


@hookspec(firstresult=True)
def toolmd_implementation(
    spec: "ToolSpec | SkillSpec",
) -> Callable[..., Any] | None:
    """Return the function of a definition that has no Python file next to it.

    Called when the tool is first used or checked; the first answer that is not None counts. If all
    plugins return None, a skill runs its steps. If the hook fails, only calls of this tool fail.

    Args:
        spec: The tool or skill.

    Returns:
        The function, or None if the definition does not belong to the plugin.
    """


@hookspec
def toolmd_gateways(settings: Settings, store: "Store") -> "Gateway | None":
    """Return what calls the tools that other programs have, such as `Implemented By: mcp …`.

    Nothing may start or be sent before a call. If the hook fails, the tools that name another
    program are not implemented.

    Args:
        settings: The project's settings.
        store: The project's store.
    """


@hookspec
def toolmd_resources(registry: Resources, settings: Settings) -> None:
    """Register resources by type; implementations request them as keyword-only parameters.

    A registered value lives as long as the snapshot, the product of a factory as long as one call.
    If the hook fails, calls that need a resource fail.

    Args:
        registry: Receives the resources.
        settings: The project's settings.
    """


@hookspec
def toolmd_guards(  # type: ignore[empty-body]
    spec: "ToolSpec", settings: Settings
) -> Iterable[Guard]:
    """Return guards for the calls of one tool; the strictest verdict wins.

    Called once per tool and snapshot, before its first call. If the hook or a guard fails, or a
    guard returns anything but a verdict or None, the call is denied with `internal_guard_error`.

    Args:
        spec: The tool.
        settings: The project's settings.
    """


@hookspec
def toolmd_approved_origins(  # type: ignore[empty-body]
    spec: "ToolSpec", settings: Settings
) -> Iterable[str]:
    """Return origins, such as `http://127.0.0.1:8000`, that the plugin's configuration names.

    The HTTP client of the tool's calls may reach them in addition to its Allowed Domains, directly
    or by a redirect: exactly this scheme, host and port, private addresses included. Called once
    per tool and snapshot, when a call first uses the client. If the hook fails, it approves none.

    Args:
        spec: The tool.
        settings: The project's settings.
    """


@hookspec
def toolmd_before_call(call: Call, spec: "ToolSpec") -> None:
    """Observe a call that passed every check, right before it runs.

    It can't change the decision. If the hook fails, the log records it, and the call runs.

    Args:
        call: The call, with its caller.
        spec: The tool.
    """


@hookspec
def toolmd_after_call(call: Call, spec: "ToolSpec", result: Result, settings: Settings) -> None:
    """Observe a call's result, for every outcome. If the hook fails, the log records it.

    Args:
        call: The call, with its caller.
        spec: The tool.
        result: The result.
        settings: The project's settings.
    """


@hookspec
def toolmd_dialects() -> Iterable["Dialect"]:  # type: ignore[empty-body]
    """Return dialects: the syntaxes in which models call tools and read results.

    A dialect whose name is already in use is left out with a diagnostic; if the hook fails, all of
    the plugin's dialects are.
    """


@hookspec
def toolmd_exporters() -> Mapping[str, Exporter]:  # type: ignore[empty-body]
    """Return exporters for other programs, by the target's name.

    Called for a target that is not built in. If the hook fails, the export fails.
    """


@hookspec
def toolmd_importers() -> Mapping[str, Importer]:  # type: ignore[empty-body]
    """Return importers of other programs' files, by the kind of source.

    Called for a kind that is not built in. An importer accepts a path or a URL. It returns markdown
    by file name, or fills an `ImportReport` of `toolmd.importing` and returns its `close()`. If the
    hook or an importer fails, the import fails; the message of a ToolmdError is shown unchanged.
    """


@hookspec
def toolmd_commands(app: "typer.Typer") -> None:
    """Add commands to `toolmd`.

    Called for a command that is not built in. If the hook fails, Toolmd reports it, and the other
    plugins' commands still work.
    """
