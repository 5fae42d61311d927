"""What the console works on: the workspace, and what starts its runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from toolmd._types.call import Caller
from toolmd._workspace import Workspace

StartRun = Callable[[str, Mapping[str, Any], Caller, float | None], str]
"""Starts a run of a skill in the background and gives its id at once."""


@dataclass(frozen=True, slots=True)
class ConsoleView:
    """A workspace that a person works on, in their browser."""

    workspace: Workspace
    start_run: StartRun
