"""What the console works on: the workspace, and the ways to whoever looks on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from toolmark._model.call import Caller
from toolmark._workspace import Workspace

StartRun = Callable[[str, Mapping[str, Any], Caller, float | None], str]
"""Starts a run of a skill in the background and gives its id at once."""
Notify = Callable[[str, dict[str, Any]], None]
"""Tells every open page of an event, by its kind and as JSON."""


@dataclass(frozen=True, slots=True)
class Bench:
    """A workspace that a person works on, in their browser."""

    workspace: Workspace
    start_run: StartRun
    notify: Notify = lambda _kind, _data: None
    trusts_edits: bool = False
    """Whether an edit that loosens a policy is live at once."""
