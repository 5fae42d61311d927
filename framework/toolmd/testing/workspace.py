"""A workspace from text and functions, for one test."""

import datetime as dt
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePath
from typing import Any

from toolmd._types.resources import Resources
from toolmd._types.settings import Settings
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec
from toolmd._workspace import Workspace
from toolmd.config import load_settings
from toolmd.errors import ArgumentError
from toolmd.hooks import hookimpl

FOLDER = "definitions"
"""The folder of the definitions, below the root of the workspace."""


def memory_workspace(
    definitions: Mapping[str, str],
    functions: Iterable[Callable[..., Any]] | Mapping[str, Callable[..., Any]] = (),
    *,
    resources: Mapping[type, Any] | None = None,
    plugins: Mapping[str, object] | None = None,
    overrides: Mapping[str, Any] | None = None,
    clock: Callable[[], dt.datetime] | None = None,
) -> Workspace:
    """Open a workspace from definitions as text, and functions.

    It loads no installed plugin and ignores the environment. Closing it deletes its state.

    Args:
        definitions: Texts by file name, such as `"greet.tool.md"`; Python files work too.
        functions: Implementations of the tools and skills of the same names.
        resources: Values by the type that implementations request.
        plugins: Further plugins by name.
        overrides: Settings by key.
        clock: Returns the time; the default is the system's.

    Raises:
        ArgumentError: A file name leads out of the workspace, or a function has no name.
        ConfigError: An override can't be read.
    """
    provided = _Functions(functions, resources or {})
    for name in definitions:
        path = PurePath(name)
        if path.is_absolute() or ".." in path.parts:
            raise ArgumentError("definitions", f"must stay in the workspace; {name!r} leads out")
    folder = tempfile.TemporaryDirectory(prefix="toolmd-", ignore_cleanup_errors=True)
    root = Path(folder.name).resolve()
    for name, text in definitions.items():
        file = root / FOLDER / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    chosen = {"tools": [FOLDER], "skills": [], "plugins": [], **(overrides or {})}
    return Workspace(
        load_settings(root, overrides=chosen, environ={}),
        plugins={"functions": provided, **(plugins or {})},
        clock=clock,
        on_close=folder.cleanup,
    )


class _Functions:
    """A plugin that provides the given functions and resources."""

    def __init__(
        self,
        functions: Iterable[Callable[..., Any]] | Mapping[str, Callable[..., Any]],
        resources: Mapping[type, Any],
    ) -> None:
        if not isinstance(functions, Mapping):
            named = [(getattr(function, "__name__", None), function) for function in functions]
            if any(name is None for name, _ in named):
                problem = "must have names; pass a mapping for those that have none"
                raise ArgumentError("functions", problem)
            functions = {str(name): function for name, function in named}
        self._functions = functions
        self._resources = resources

    @hookimpl
    def toolmd_implementation(self, spec: ToolSpec | SkillSpec) -> Callable[..., Any] | None:
        return self._functions.get(spec.name)

    @hookimpl
    def toolmd_resources(self, registry: Resources, settings: Settings) -> None:
        del settings
        for kind, value in self._resources.items():
            registry.register_value(kind, value)
