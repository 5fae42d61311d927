"""The results of calls as models read them, and the whole of those that are too large."""

from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from toolmd._types.kept import no_result
from toolmd._types.registry import BoundTool
from toolmd._types.result import Result
from toolmd._workspace.background_loop import off_loop, sync_of
from toolmd._workspace.method_parameters import checked
from toolmd._workspace.project import Project
from toolmd.errors import NotFoundError


@checked
class Results:
    """What models read of results: a bounded part, and pages of the rest under a handle."""

    def __init__(self, project: Project) -> None:
        self._project = project

    async def for_model(self, result: Result, *, user: str | None = None) -> Result:
        """Return what a model reads of a result; `handle` does so for the calls of a reply.

        Use it for results of `call` and of decisions that you pass on to a model yourself.

        Args:
            result: The whole result.
            user: The user of the call, who alone may read the rest.

        Returns:
            The result itself if it is small, else the fields of To Model, cut to the setting
            `results.max_bytes`, with the `handle` under which the whole is kept for 24 hours.
        """
        return await self._project.live.keeper.shown(result, user)

    async def read(self, handle: str, *, user: str | None = None) -> Any:
        """Return the whole value that is kept under a handle.

        Args:
            handle: The handle of a result.
            user: The user of the call that returned it.

        Raises:
            NotFoundError: Nothing is kept for this user under the handle any more.
            UnreachableError: The store can't be used.
        """
        kept = await off_loop(self._project.live.keeper.find, handle, user)
        if kept is None:
            raise NotFoundError(no_result(handle))
        return from_json(kept.data)

    def tools(self) -> Mapping[str, BoundTool]:
        """Return the tools for models: with `read_result` while any result is kept."""
        return self._project.live.for_models()

    def is_open(self) -> bool:
        """Return whether a result is known to be kept: exports then have the tool `read_result`.

        The results of this process are known at once, those of others a second after the first
        question.
        """
        return self._project.live.keeper.is_open()

    for_model_sync = sync_of(for_model)
    read_sync = sync_of(read)
