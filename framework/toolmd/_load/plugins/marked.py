"""Find the functions of a plugin that are marked as hooks."""

import inspect
import re
from types import ModuleType

import pluggy

from toolmd.hooks import PROJECT


def may_have_hooks(module: ModuleType) -> bool:
    """Return whether a module has functions that are marked as hooks, as far as it tells."""
    values = [*vars(module).values()]
    marked = any(inspect.isroutine(value) and hasattr(value, f"{PROJECT}_impl") for value in values)
    return marked or "__dir__" in vars(module)


def unknown_hooks(manager: pluggy.PluginManager, plugin: object) -> list[str]:
    """Return the functions that are marked as hooks that do not exist."""
    return [
        name
        for name in dir(plugin)
        if manager.parse_hookimpl_opts(plugin, name) is not None
        and not getattr(manager.hook, name).has_spec()
    ]


def mismatch(error: pluggy.PluginValidationError, manager: pluggy.PluginManager) -> str:
    """Describe the parameters of an implementation that its hook does not pass."""
    said = re.search(r"for hook '(\w+)'.*Argument\(s\) \{(.+?)\}", str(error), re.DOTALL)
    if said is None:
        return f"does not fit: {error}"
    given = getattr(manager.hook, said[1]).spec.argnames
    return f"takes {said[2]} in {said[1]}, which gives {', '.join(given) or 'nothing'}"
