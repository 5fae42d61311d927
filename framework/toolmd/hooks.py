"""The hooks that a plugin may implement, and their markers.

A plugin is a module or an object with functions marked `@hookimpl`. It is found through the
entry-point group `toolmd` of an installed package, as `plugin.py` at the root of a folder of
definitions, or as an implementation next to its markdown. Toolmd calls each hook by keyword, so an
implementation declares only the arguments that it needs. It returns None if it has no answer;
Toolmd reports any other invalid value with the plugin's name.
"""

import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pluggy

from toolmd._types.call import Call
from toolmd._types.result import Result
from toolmd._types.settings import Settings
from toolmd._types.verdict import Verdict

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    # svcs imports every web framework that is installed: half a second, for a tool with resources.
    import svcs
    import typer

    from toolmd._types.imported import Imported
    from toolmd._types.reply import Dialect

    # They need pydantic, and a process's first call should not wait for its import.
    from toolmd._types.skill import SkillSpec
    from toolmd._types.tool import ToolSpec

PROJECT = "toolmd"
GROUP = "toolmd"
"""The entry-point group of plugins."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a function as an implementation of the hook of the same name."""

Guard = Callable[[Call, Mapping[str, Any]], Verdict | Awaitable[Verdict | None] | None]
"""Return the verdict on one call and its validated arguments; None for no opinion."""
Exporter = Callable[[Sequence["ToolSpec"], Sequence["SkillSpec"]], list[dict[str, Any]] | str]
Importer = Callable[[str], "Mapping[str, str] | Imported"]
"""Reads a source (path or URL); returns markdown by file name, or a closed `ImportReport`."""


def new_manager() -> pluggy.PluginManager:
    """Return a manager that knows these hooks and no plugin."""
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
    """Return folders or files of definitions, their Python beside them.

    Called once per snapshot, when it is read. A package gives `importlib.resources.files(...)`
    of its own. A failure leaves the package's definitions out, with a diagnostic.
    """


@hookspec
def toolmd_default_min() -> float:  # type: ignore[empty-body]
    """Return the least confidence (0..1) for this plugin's own tools that name none.

    Called once per snapshot, when it is read. It is a restriction: where it fails or gives no
    such number, the plugin's tools do not load.
    """


@hookspec(firstresult=True)
def toolmd_implementation(
    spec: "ToolSpec | SkillSpec",
) -> Callable[..., Any] | None:
    """Return the function behind a definition that has no Python beside it, or None.

    Called when the tool is first used or checked; the first answer that is not None counts. None
    means that the definition is not this plugin's: a skill then runs its steps. A failure, or an
    answer that is not a function, makes calls of this tool fail, and no others.
    """


@hookspec
def toolmd_resources(registry: "svcs.Registry", settings: Settings) -> None:
    """Register resources by type; implementations request them as keyword-only parameters.

    Called once per snapshot, before its first call that needs a resource. A registered value lives
    as long as the snapshot, the product of a factory as long as one call. If the hook fails, calls
    that need a resource fail.
    """


@hookspec
def toolmd_guards(spec: "ToolSpec") -> Iterable[Guard]:  # type: ignore[empty-body]
    """Return guards for the calls of one tool; the strictest verdict wins.

    Called once per tool and snapshot, before its first call. A failure, here or in a guard, or
    an answer that is not a verdict, denies the call with `internal_guard_error`.
    """


@hookspec
def toolmd_approved_origins(  # type: ignore[empty-body]
    spec: "ToolSpec", settings: Settings
) -> Iterable[str]:
    """Return origins, such as `http://127.0.0.1:8000`, that the plugin's own configuration names.

    The HTTP client of this tool's calls reaches them beside its Allowed Domains, private
    addresses included: exactly this scheme, host and port, also where a redirect leads there.
    Called once per tool and snapshot, when a call first asks for the client. A failure approves
    nothing.
    """


@hookspec
def toolmd_before_call(call: Call, spec: "ToolSpec") -> None:
    """Receive of a call that passed every check, right before it runs.

    It decides nothing. A failure goes to the log, and the call runs.
    """


@hookspec
def toolmd_after_call(call: Call, spec: "ToolSpec", result: Result) -> None:
    """Receive of a call's result, whatever the outcome. A failure goes to the log."""


@hookspec
def toolmd_dialects() -> Iterable["Dialect"]:  # type: ignore[empty-body]
    """Return ways in which models call tools and read results.

    Called once per snapshot, before the first reply. A name that is taken already is left out,
    with a diagnostic, as is the whole plugin's share where it fails.
    """


@hookspec
def toolmd_exporters() -> Mapping[str, Exporter]:  # type: ignore[empty-body]
    """Return writers for other programs, by the target's name.

    Called when a target is exported that Toolmd does not know. A failure fails the export.
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

    Called for a command that Toolmd does not know. A failure is reported, and the other plugins'
    commands work.
    """
