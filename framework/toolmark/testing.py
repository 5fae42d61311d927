"""What tests of tools and of their hosts need: a workspace from text, a clock, a scripted model."""

import datetime as dt
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolmark._model.settings import Settings
from toolmark._model.skill import SkillSpec
from toolmark._model.tool import ToolSpec
from toolmark._workspace import Workspace
from toolmark.config import load_settings
from toolmark.hooks import hookimpl

if TYPE_CHECKING:
    import svcs

__all__ = ["FOLDER", "FakeClock", "ScriptedModel", "memory_workspace"]


FOLDER = "definitions"
"""Below the root of a workspace of texts: where its definitions lie."""


def memory_workspace(
    definitions: Mapping[str, str],
    functions: Iterable[Callable[..., Any]] | Mapping[str, Callable[..., Any]] = (),
    *,
    resources: Mapping[type, Any] | None = None,
    plugins: Mapping[str, object] | None = None,
    overrides: Mapping[str, Any] | None = None,
    clock: Callable[[], dt.datetime] | None = None,
) -> Workspace:
    """Open a workspace of definitions given as text and functions handed in.

    `definitions` are texts by file name (`"greet.tool.md"`; Python beside them works too).
    `functions` implement the tools and skills of their names. `resources` are values by the type
    that implementations ask for; `overrides` are settings by key. No installed plugin loads, the
    environment is not read, and what is kept goes when the workspace is closed.
    """
    folder = tempfile.TemporaryDirectory(prefix="toolmark-")
    root = Path(folder.name).resolve()
    for name, text in definitions.items():
        file = root / FOLDER / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    chosen = {"tools": [FOLDER], "skills": [], "plugins": [], **(overrides or {})}
    return Workspace(
        load_settings(root, overrides=chosen, environ={}),
        plugins={"functions": _Functions(functions, resources or {}), **(plugins or {})},
        clock=clock,
        on_close=folder.cleanup,
    )


class FakeClock:
    """A clock that moves when it is told to; call it for the time."""

    def __init__(self, now: dt.datetime | None = None) -> None:
        self._now = now or dt.datetime(2026, 1, 1, tzinfo=dt.UTC)

    def __call__(self) -> dt.datetime:
        """Give the time."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Let time pass, in seconds."""
        self._now += dt.timedelta(seconds=seconds)


class ScriptedModel:
    """A model that says what it was given to say, and remembers what it was asked."""

    def __init__(self, *replies: Any) -> None:
        self._replies = list(replies)
        self.heard: list[Any] = []

    async def __call__(self, messages: Any) -> Any:
        """Give the next reply; raises AssertionError where the script is at its end."""
        self.heard.append(messages)
        if not self._replies:
            raise AssertionError("the script has no more replies")
        return self._replies.pop(0)


class _Functions:
    """The plugin that gives the functions and the resources that were handed in."""

    def __init__(
        self,
        functions: Iterable[Callable[..., Any]] | Mapping[str, Callable[..., Any]],
        resources: Mapping[type, Any],
    ) -> None:
        given = functions if isinstance(functions, Mapping) else {f.__name__: f for f in functions}
        self._functions = dict(given)
        self._resources = resources

    @hookimpl
    def toolmark_implementation(self, spec: ToolSpec | SkillSpec) -> Callable[..., Any] | None:
        return self._functions.get(spec.name)

    @hookimpl
    def toolmark_resources(self, registry: "svcs.Registry", settings: Settings) -> None:
        del settings
        for kind, value in self._resources.items():
            registry.register_value(kind, value)
