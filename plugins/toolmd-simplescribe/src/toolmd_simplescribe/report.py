"""Report the result of loading a file to a person."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from toolmd_simplescribe.loader import Loaded

_MOST = 10
"""How many omitted resources are named for each reason."""


def lines_of(path: Path, loaded: Loaded) -> Iterator[str]:
    """Return the lines about a loaded file."""
    yield f"{path}: {_counted(loaded.resources) or 'nothing to load'}"
    if loaded.items:
        yield f"  items: {_counted(loaded.items)}"
    yield f"  about: {_counted(loaded.patients, named_first=True) or 'nobody'}"
    if loaded.unnamed:
        yield f"  not in the bundle themselves: {', '.join(loaded.unnamed)}"
    if loaded.read.unknown:
        yield f"  of types that no tool returns: {_counted(loaded.read.unknown)}"
    if loaded.empty:
        yield f"  entries without a resource: {loaded.empty}"
    reasons = Counter(omission.reason for omission in loaded.read.omissions)
    for reason, count in reasons.most_common():
        named = [one.resource for one in loaded.read.omissions if one.reason == reason]
        more = ", …" if count > _MOST else ""
        yield f"  left out, {reason}: {count} ({', '.join(named[:_MOST])}{more})"


def _counted(counts: Mapping[str, int], *, named_first: bool = False) -> str:
    shown = (f"{name} ({n})" if named_first else f"{n} {name}" for name, n in counts.items())
    return ", ".join(shown)
