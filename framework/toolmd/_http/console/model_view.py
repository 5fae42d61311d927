"""Compare what a model reads of a result with what is kept of it."""

import asyncio
from contextlib import suppress
from typing import NamedTuple

from toolmd._call.result import write
from toolmd._dialect.body import body_text
from toolmd._types.result import Result
from toolmd._workspace import Workspace
from toolmd._workspace.kept import most_bytes
from toolmd.errors import UnreachableError


class ModelView(NamedTuple):
    """The part of a result that a model reads, and what is kept under its handle."""

    text: str
    """The text that a model gets."""
    size: int
    """Its bytes."""
    most: int
    """The most bytes that a model gets of this tool."""
    handle: str | None
    """None for a run, whose record keeps the whole."""
    kept: int
    """The bytes of the whole value."""
    until: float | None
    """When it is deleted, in seconds since the epoch; None if that can't be read."""


async def model_view(workspace: Workspace, result: Result, user: str | None) -> ModelView | None:
    """Return what a model reads of a result; None unless that is a part, and the whole is kept.

    Args:
        workspace: The project that keeps the whole.
        result: The whole result.
        user: The user of the call.
    """
    view = await workspace.results.for_model(result, user=user)
    if view.handle is None:
        return None
    until = None
    with suppress(UnreachableError):  # The call has run: its result is shown.
        handles = await asyncio.to_thread(workspace.results.handles, user=user)
        until = next((one.until for one in handles if one.handle == view.handle), None)
    return _compared(workspace, result, view, until)


def run_view(workspace: Workspace, result: Result | None) -> ModelView | None:
    """Return what a model reads of a run's result; None unless that is a part of it."""
    if result is None:
        return None
    view = workspace.results.preview(result)
    return None if view.data == result.data else _compared(workspace, result, view, None)


def _compared(workspace: Workspace, whole: Result, view: Result, until: float | None) -> ModelView:
    bound = workspace.tools.get(whole.tool)
    own = None if bound is None else bound.call_spec.limits.max_bytes
    text = body_text(view)
    return ModelView(
        text,
        len(text.encode("utf-8", "replace")),
        most_bytes(workspace.settings.results.max_bytes, own),
        view.handle,
        len(write(whole.data)),
        until,
    )
