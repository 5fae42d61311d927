"""The workspace that the console works on, and a function that starts its runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from toolmd._types.call import Caller
from toolmd._workspace import Workspace

StartRun = Callable[[str, Mapping[str, Any], Caller, float | None], str]
"""A function that starts a run of a skill in the background and returns its id at once."""


@dataclass(frozen=True, slots=True)
class ConsoleView:
    """A workspace that a person works on in a browser."""

    workspace: Workspace
    start_run: StartRun
