"""Pending calls and the questions of runs; only people decide them."""

import heapq
from collections.abc import Mapping
from itertools import filterfalse, islice
from typing import Any

from toolmd._types.confirmation import Confirmation
from toolmd._types.result import EventListener, Result
from toolmd._types.run import Answer
from toolmd._workspace.background_loop import off_loop, sync_of
from toolmd._workspace.method_parameters import checked
from toolmd._workspace.opened import OpenProject
from toolmd._workspace.runs.control import Runs
from toolmd._workspace.runs.store_changes import StoreChanges
from toolmd.errors import NotFoundError

_NOTHING_HAPPENED = frozenset(
    (
        "confirmation_not_found",
        "confirmation_used",
        "confirmation_expired",
        "confirmation_elsewhere",
        "review_required",
    )
)


@checked
class Confirmations:
    """The calls that wait for a person, and the decisions on them, each once.

    The question of a run is decided under `RUN/KEY`. A `user` can decide only
    their own calls; a host that passes no user acts as the operator.
    """

    def __init__(self, project: OpenProject, runs: Runs) -> None:
        self._project = project
        self._runs = runs

    async def pending(
        self, *, user: str | None = None, limit: int | None = None, after: str | None = None
    ) -> tuple[Confirmation, ...]:
        """Return the pending calls and the questions of runs, oldest first.

        Args:
            user: Only the calls of this user; None for all users.
            limit: At most so many; a page that has fewer is the last. None for all.
            after: The id of the last one of the page before.

        Raises:
            NotFoundError: `after` is not kept any more.
        """
        decisions, questions = (
            (await self._project.dispatcher()).decisions,
            self._runs.service.questions,
        )
        last = None if after is None else await self.get(after, user=user)
        if last is None and after is not None:
            raise NotFoundError(f"no call {after} is kept: begin again with the first page")
        place = None if last is None else (last.created, last.id)

        def read() -> tuple[Confirmation, ...]:
            # A run asks for its own pending calls; they must not be listed twice.
            calls = filterfalse(
                lambda one: questions.asks_for(one.call.id), decisions.each_pending(user, place)
            )
            asked = (one for one in questions.each(place) if user in {None, one.call.caller.user})
            every = heapq.merge(calls, asked, key=lambda one: (one.created, one.id))
            return tuple(islice(every, limit))

        return await off_loop(read)

    pending_sync = sync_of(pending)

    @property
    def store_changes(self) -> StoreChanges:
        """What finds the changes of all processes, for servers; new at each use."""
        return StoreChanges(self._project, self._runs.service)

    async def get(self, confirmation_id: str, *, user: str | None = None) -> Confirmation | None:
        """Return a pending or decided call by its id, or an open question of a run.

        Args:
            confirmation_id: The id of the call, or `RUN/KEY`.
            user: The person who asks; None for the operator.

        Returns:
            None if the id is unknown or belongs to another user.

        Raises:
            UnreachableError: The store can't be read.
        """
        if "/" in str(confirmation_id):
            confirmation = await off_loop(self._runs.service.questions.find, confirmation_id)
        else:
            confirmation = await (await self._project.dispatcher()).decisions.read(confirmation_id)
        if confirmation is None or (
            user is not None and confirmation.call.caller.user not in {None, user}
        ):
            return None
        return confirmation

    get_sync = sync_of(get)

    async def approve(
        self,
        confirmation_id: str,
        edit: Mapping[str, Any] | None = None,
        *,
        user: str | None = None,
        by: str | None = None,
        on_event: EventListener | None = None,
    ) -> Result:
        """Approve a pending call and run it; `edit` replaces some of its arguments.

        Edited arguments are validated and checked again. An edit also approves the call, except
        for critical tools, which ask for another confirmation.

        Args:
            confirmation_id: The id of the call, or `RUN/KEY`.
            edit: The arguments to replace, by name.
            user: The person who decides; None for the operator.
            by: The name of the person for the audit; `user` by default.
            on_event: Receives the progress and the items of the call, but not of a run.

        Returns:
            The call's Result, or a denial if this person can't decide it any more.
        """
        answer = Answer(approved=True, arguments=dict(edit) if edit else None, by=by or user)
        result = await self._answered(confirmation_id, answer, user)
        if result is None:
            result = await (await self._project.dispatcher()).decisions.confirm(
                confirmation_id, edit=edit, user=user, by=by or user, on_event=on_event
            )
        return await self._decided(confirmation_id, "edited" if edit else "approved", result, user)

    approve_sync = sync_of(approve)

    async def reject(
        self, confirmation_id: str, *, user: str | None = None, by: str | None = None
    ) -> Result:
        """Reject a pending call: it never runs.

        Args:
            confirmation_id: The id of the call, or `RUN/KEY`.
            user: The person who decides; None for the operator.
            by: The name of the person for the audit; `user` by default.
        """
        answer = Answer(approved=False, by=by or user)
        result = await self._answered(confirmation_id, answer, user)
        if result is None:
            result = await (await self._project.dispatcher()).decisions.reject(
                confirmation_id, user=user, by=by or user
            )
        return await self._decided(confirmation_id, "rejected", result, user)

    reject_sync = sync_of(reject)

    async def respond(
        self, confirmation_id: str, text: str, *, user: str | None = None, by: str | None = None
    ) -> Result:
        """Answer a pending call in place of the tool: it never runs.

        Args:
            confirmation_id: The id of the call, or `RUN/KEY`.
            text: The answer, which becomes the call's result.
            user: The person who decides; None for the operator.
            by: The name of the person for the audit; `user` by default.
        """
        answer = Answer(approved=True, text=text, by=by or user)
        result = await self._answered(confirmation_id, answer, user)
        if result is None:
            result = await (await self._project.dispatcher()).decisions.respond(
                confirmation_id, text, user=user, by=by or user
            )
        return await self._decided(confirmation_id, "answered", result, user)

    respond_sync = sync_of(respond)

    async def _decided(
        self, confirmation_id: str, state: str, result: Result, user: str | None
    ) -> Result:
        workspace_events = self._project.workspace_events
        if workspace_events and (
            result.error is None or result.error.code not in _NOTHING_HAPPENED
        ):
            confirmation = await (await self._project.dispatcher()).decisions.confirmation(
                confirmation_id
            )
            whose = user if confirmation is None else confirmation.call.caller.user
            workspace_events.tell(
                "pending", {"id": confirmation_id, "state": state, "tool": result.tool}, whose
            )
        return result

    async def _answered(
        self, confirmation_id: str, answer: Answer, user: str | None
    ) -> Result | None:
        """Decide a question of a run and return the Result; None if the id is not a question."""
        run_id, slash, key = str(confirmation_id).partition("/")
        return await self._runs.service.decide(run_id, key, answer, user) if slash else None
