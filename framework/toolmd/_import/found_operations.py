"""Find the operations of an OpenAPI document, and name the tool of each."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from toolmd._import.names import distinct, tool_name
from toolmd._import.report import ImportReport
from toolmd._types.operation import METHODS

_OTHER_KEYS = frozenset(("parameters", "summary", "description", "servers", "$ref"))


class FoundOperation(NamedTuple):
    """An operation, and where the document has it."""

    name: str
    """The name of its tool."""
    method: str
    path: str
    content: Mapping[str, Any]
    item: Mapping[str, Any]
    """What the operations of its path share."""

    def fits(self, masks: Sequence[str]) -> bool:
        """Return whether its name, path or tag fits one of these patterns; without any it does."""
        tags = self.content.get("tags")
        own = [self.name, _name(self.method, self.path, self.content), self.path]
        own += map(str, tags if isinstance(tags, list) else ())
        return not masks or any(fnmatchcase(one, mask) for one in own for mask in masks)


def find_operations(
    paths: Mapping[str, Any],
    resolved: Callable[[Any], Mapping[str, Any]],
    report: ImportReport,
    only: Sequence[str],
) -> list[FoundOperation]:
    """Return the operations that are wanted; `resolved` follows references.

    All are named before some are chosen, so that a name does not depend on the choice.
    """
    every = list(_operations(paths, resolved, report))
    found = []
    short = _shortened(every)
    for one, kept, name in zip(every, short, distinct(short), strict=True):
        named = one._replace(name=name)
        if named.fits(only):
            if name != one.name:
                own = one.content.get("operationId") or f"{one.method} {one.path}"
                why = "which was generated" if name == kept else "as another one"
                report.note(name, "", f"called {own!r} in the document, {why}")
            found.append(named)
    return found


def _operations(
    paths: Mapping[str, Any], resolved: Callable[[Any], Mapping[str, Any]], report: ImportReport
) -> Iterator[FoundOperation]:
    for path, shared in paths.items():
        item = resolved(shared)
        for method, content in item.items():
            if method.upper() in METHODS and isinstance(content, Mapping):
                name = _name(method, path, content)
                yield FoundOperation(name, method.upper(), path, content, item)
            elif method not in _OTHER_KEYS:
                report.reject(f"{method} {path}", "no method that a tool can call")


def _name(method: str, path: str, content: Mapping[str, Any]) -> str:
    return tool_name(str(content.get("operationId") or f"{method.upper()} {path}")) or "operation"


def _shortened(every: Sequence[FoundOperation]) -> list[str]:
    """Return the name of each operation, without what FastAPI generates where it stays unique."""
    short = [_function(one) or one.name for one in every]
    counted = Counter(
        name for one, own in zip(every, short, strict=True) for name in {one.name, own}
    )
    return [own if counted[own] == 1 else one.name for one, own in zip(every, short, strict=True)]


def _function(one: FoundOperation) -> str:
    """Return the function's name from an id `{function}{path}_{method}`; empty for another id."""
    own = str(one.content.get("operationId") or "")
    tail = re.sub(r"\W", "_", one.path) + "_" + one.method.lower()
    return tool_name(own.removesuffix(tail)) if own.endswith(tail) else ""
