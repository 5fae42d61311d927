"""Find the functions of a plugin that are marked as hooks."""

import inspect
import re
from types import ModuleType

import pluggy

from toolmd.errors import ToolmdError, did_you_mean
from toolmd.hooks import PROJECT


def may_have_hooks(module: ModuleType) -> bool:
    """Return whether a module has functions that are marked as hooks, as far as it tells."""
    values = [*vars(module).values()]
    marked = any(inspect.isroutine(value) and hasattr(value, f"{PROJECT}_impl") for value in values)
    return marked or "__dir__" in vars(module)


_EARLY = {
    "toolmd_default_min": "safety.default_min",
    "toolmd_crisis_words": "safety.crisis_words",
}
"""The restrictions that are asked for before a folder's plugin loads, and their settings."""


def reject_early_hooks(module: object) -> None:
    """Raise ToolmdError where a folder's plugin has a restriction that nobody would ask for."""
    for hook, setting in _EARLY.items():
        if hasattr(getattr(module, hook, None), f"{PROJECT}_impl"):
            message = f"{hook} is for installed packages: write `{setting}` in the settings"
            raise ToolmdError(message)


class UnknownHookError(ToolmdError):
    """A plugin implements a hook that does not exist."""


def reject_unknown_hooks(manager: pluggy.PluginManager, plugin: object) -> None:
    """Raise UnknownHookError for a hook that does not exist: as a guard, it would check nothing."""
    for name in dir(plugin):
        marked = manager.parse_hookimpl_opts(plugin, name) is not None
        if marked and not getattr(manager.hook, name).has_spec():
            known = [n for n, hook in vars(manager.hook).items() if hook.has_spec()]
            hint = did_you_mean(name, known)
            raise UnknownHookError(f"implements {name}, which is no hook{hint and '; '}{hint}")


def mismatch(error: pluggy.PluginValidationError, manager: pluggy.PluginManager) -> str:
    """Describe the parameters of an implementation that its hook does not pass."""
    said = re.search(r"for hook '(\w+)'.*Argument\(s\) \{(.+?)\}", str(error), re.DOTALL)
    if said is None:
        return f"does not fit: {error}"
    given = getattr(manager.hook, said[1]).spec.argnames
    return f"takes {said[2]} in {said[1]}, which gives {', '.join(given) or 'nothing'}"
