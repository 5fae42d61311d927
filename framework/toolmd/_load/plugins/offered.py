"""Find what plugins offer by name: writers for other programs, and readers of theirs."""

import reprlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from toolmd._load.plugins.manager import Plugins, reason


class Offered(NamedTuple):
    """A function that a plugin offers under a name."""

    plugin: str
    make: Callable[..., Any]


def offered(
    plugins: Plugins, hook: str, name: str
) -> tuple[Offered | None, frozenset[str], tuple[str, ...]]:
    """Return the first plugin's offer of this name, all offered names, and the plugins' errors.

    The hook gives functions by name; None means that a plugin has none.
    """
    known: set[str] = set()
    problems: list[str] = []
    found: Offered | None = None
    for answer in plugins.ask(hook):
        if answer.error is not None:
            problems.append(f"plugin {answer.plugin} fails in {hook}: {reason(answer.error)}")
        elif isinstance(answer.value, Mapping):
            known |= {str(one) for one in answer.value}
            if found is None and name in answer.value:
                found = Offered(answer.plugin, answer.value[name])
        elif answer.value is not None:
            odd = reprlib.repr(answer.value)
            problems.append(f"plugin {answer.plugin} gives no functions by name in {hook}: {odd}")
    return found, frozenset(known), tuple(problems)
