"""Find the operations of an OpenAPI document, and name the tool of each."""

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
        own = (self.name, self.path, *map(str, tags if isinstance(tags, list) else ()))
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
    for one, name in zip(every, distinct([one.name for one in every]), strict=True):
        named = one._replace(name=name)
        if named.fits(only):
            if name != one.name:
                own = one.content.get("operationId") or f"{one.method} {one.path}"
                report.note(name, "", f"called {own!r} in the document, as another one")
            found.append(named)
    return found


def _operations(
    paths: Mapping[str, Any], resolved: Callable[[Any], Mapping[str, Any]], report: ImportReport
) -> Iterator[FoundOperation]:
    for path, shared in paths.items():
        item = resolved(shared)
        for method, content in item.items():
            if method.upper() in METHODS and isinstance(content, Mapping):
                name = tool_name(str(content.get("operationId") or f"{method.upper()} {path}"))
                yield FoundOperation(name or "operation", method.upper(), path, content, item)
            elif method not in _OTHER_KEYS:
                report.reject(f"{method} {path}", "no method that a tool can call")
