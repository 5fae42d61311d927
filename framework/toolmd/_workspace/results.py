"""The results of calls as models read them, and the whole of those that are too large."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from toolmd._types.confirmation import UNDECIDED, Confirmation
from toolmd._types.decision import Approver, Decision
from toolmd._types.registry import BoundTool
from toolmd._types.result import EventListener, Result
from toolmd._types.stored import no_result
from toolmd._workspace.background_loop import off_loop, sync_of
from toolmd._workspace.confirmations import Confirmations
from toolmd._workspace.project import Project
from toolmd.errors import NotFoundError


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
        return await self._project.live.keeper.show(result, user)

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


ANSWER_NOT_ACCEPTED = "The person's answer was not accepted, so the call was not approved: "


def changed(before: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that differ from those before, as JSON text: true differs from 1."""
    return {
        name: value
        for name, value in given.items()
        if name not in before or json.dumps(value) != json.dumps(before[name])
    }


async def decide_for_model(
    confirmations: Confirmations, results: Results, one: Confirmation, decision: Decision,
    who: Approver, on_event: EventListener | None = None,
) -> Result:  # fmt: skip
    """Carry out an answer from a host's own dialogue, and return what the model reads.

    A question that still waits, because the answer did not fit, is asked again.
    """
    whole = await confirmations.decide(one.id, decision, who, on_event=on_event)
    result = await results.for_model(whole, user=one.call.caller.user)
    if result.error is None:
        return result
    now = await confirmations.get(one.id)
    if now is None or now.state not in UNDECIDED:
        return result
    prompt = f"{ANSWER_NOT_ACCEPTED}{result.error.message} {one.prompt}"
    again = one._replace(prompt=prompt)
    return result._replace(outcome=one.kind, confirmation=again, message=prompt)
