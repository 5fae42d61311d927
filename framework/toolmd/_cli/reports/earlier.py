"""Warnings that an earlier version of a file runs: the file is broken, or its edit waits."""

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from toolmd._cli.terminal.screen import err, paint, printable
from toolmd._types.code import CONSEQUENCES
from toolmd._types.diagnostic import Severity
from toolmd._types.pending_change import PendingChange
from toolmd._types.registry import Bound, Registry

if TYPE_CHECKING:
    # `--help` must not import the workspace.
    from toolmd._workspace import Workspace

_MOST = 3
"""The most weakened restrictions to name; `toolmd accept` lists all."""


def warn_of_earlier(workspace: "Workspace", names: Iterable[str]) -> None:
    """Warn on stderr if these tools and skills run as an earlier version of their file."""
    registry = workspace.registry
    for name in dict.fromkeys(names):
        for warning in earlier_versions(registry, name):
            err(f"{paint('warning', 'yellow', sys.stderr)}: {printable(warning)}")


def earlier_versions(registry: Registry, name: str) -> list[str]:
    """Return a sentence for each reason why a call of `name` runs an earlier version."""
    bound = registry.tools.get(name) or registry.skills.get(name)
    if bound is None:
        return []
    waiting = [_of_edit(edit) for edit in registry.pending_changes if edit.name == name]
    return [_of_broken(registry, bound), *waiting] if bound.stale else waiting


def _of_broken(registry: Registry, bound: Bound[Any]) -> str:
    files = {found.path for found in bound.diagnostics if found.code in CONSEQUENCES}
    errors = (d for d in registry.diagnostics if d.severity is Severity.ERROR and d.path in files)
    first = next(errors, None)
    said = f" ({first.path}:{first.line}: {first.message})" if first is not None else ""
    return (
        f"the last good version of {bound.name} runs, because its file is broken{said}; "
        "`toolmd check` shows every error"
    )


def _of_edit(edit: PendingChange) -> str:
    dropped = "; ".join(str(one) for one in edit.weakened[:_MOST])
    more = f"; {len(edit.weakened) - _MOST} more" if len(edit.weakened) > _MOST else ""
    return (
        f"{edit.name} runs with its stricter earlier policy, because the edit of {edit.path} "
        f"weakens it ({dropped}{more}); `toolmd accept {edit.name}` accepts the edit"
    )
