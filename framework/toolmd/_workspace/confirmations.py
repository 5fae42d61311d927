"""What waits for a person: pending calls, the questions of runs, and crisis flags."""

import datetime as dt
import heapq
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from time import time
from typing import TYPE_CHECKING, Any, NamedTuple

from toolmd._types.call import NO_CONTEXT, Caller, Fact, host_name_of, run_of
from toolmd._types.confirmation import UNDECIDED, Confirmation
from toolmd._types.decision import OPERATOR, Approver, Decision
from toolmd._types.identity import Identity
from toolmd._types.result import EventListener, Result
from toolmd._types.stored import Crisis
from toolmd._workspace.background_loop import off_loop, sync_of
from toolmd._workspace.project import Project, WorkspaceEventKind
from toolmd.errors import NotFoundError

if TYPE_CHECKING:
    from toolmd._workspace.runs import Runs

_STATES = {"approve": "approved", "edit": "edited", "reject": "rejected", "respond": "answered"}
"""The state of a call by the decision on it."""
_NOTHING_HAPPENED = frozenset(
    (
        "confirmation_not_found",
        "confirmation_used",
        "confirmation_expired",
        "approval_expired",
        "confirmation_elsewhere",
        "review_required",
        "not_allowed",
    )
)


class Confirmations:
    """The calls that wait for a person, and the decisions on them, each once.

    The question of a run is decided under `RUN/KEY`. A `user` can decide only
    their own calls; a host that passes no user acts as the operator.
    """

    def __init__(self, project: Project, runs: "Callable[[], Runs]") -> None:
        self._project = project
        self._runs = runs

    async def pending(
        self,
        *,
        user: str | None = None,
        roles: Sequence[str] = (),
        limit: int | None = None,
        after: str | None = None,
    ) -> tuple[Confirmation, ...]:
        """Return the pending calls and the questions of runs, oldest first.

        Sensitive values are in them only for the caller of each, and for those who may approve it.

        Args:
            user: Only the calls of this user; None for all users, without Sensitive values.
            roles: The roles of the user: with them, also the calls that one may approve.
            limit: At most so many; a page that has fewer is the last. None for all.
            after: The id of the last one of the page before.

        Raises:
            NotFoundError: `after` is not kept any more.
        """
        calls = (await self._project.dispatcher()).confirmations
        questions = self._runs().questions
        last = None if after is None else await self.get(after, user=user)
        if last is None and after is not None:
            raise NotFoundError(f"no call {after} is kept: begin again with the first page")
        place = None if last is None else (last.created, last.id)

        now = time()

        def interests(one: Confirmation) -> bool:
            return one.call.caller.user in {None, user} or one.may_interest(roles, now)

        def read() -> tuple[Confirmation, ...]:
            asked = (
                one for one in questions.each(place)
                if user in {None, one.call.caller.user} or one.may_interest(roles, now)
            )  # fmt: skip
            # A run asks for its own pending calls.
            waiting = calls.pending(None if roles else user, place)
            if roles and user is not None:
                waiting = (one for one in waiting if interests(one))
            every = heapq.merge(waiting, asked, key=lambda one: (one.created, one.id))
            return tuple(one.opened_for(user, roles, now) for one in islice(every, limit))

        return await off_loop(read)

    @property
    def store_changes(self) -> "StoreChanges":
        """What finds the changes of all processes, for servers; new at each use."""
        return StoreChanges(self._project, self._runs)

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
            confirmation = await off_loop(self._runs().questions.find, confirmation_id)
        else:
            calls = (await self._project.dispatcher()).confirmations
            confirmation = await calls.read(confirmation_id)
        if confirmation is None or (
            user is not None and confirmation.call.caller.user not in {None, user}
        ):
            return None
        return confirmation.opened_for(user, (), time())

    async def of_call(
        self, call_id: str, *, conversation: str | None = None, user: str | None = None
    ) -> tuple[Confirmation, ...]:
        """Return the questions of one call that its host named, oldest first.

        Args:
            call_id: The host's id of the call, as `dispatch` received it.
            conversation: The conversation of the call.
            user: The user of the call.

        Returns:
            The questions of a tool's call, decided or not; of a skill's, those that are open.
        """
        name = host_name_of(call_id, Caller(user, conversation=conversation))
        kept = await (await self._project.dispatcher()).confirmations.of_call(name)
        found = tuple(one.opened() for one in kept)
        return found or await off_loop(self._runs().questions.of, run_of(name))

    async def result_of(self, confirmation_id: str, *, user: str | None = None) -> Result | None:
        """Return the result of a decided call that its host named; None where none is recorded.

        Args:
            confirmation_id: The id of the call's question.
            user: The user of the call; None for the operator.
        """
        one = await self.get(confirmation_id, user=user)
        if one is None or one.state in UNDECIDED or "/" in one.id:
            return None
        return await (await self._project.dispatcher()).confirmations.find_result(one)

    async def decide(
        self,
        confirmation_id: str,
        decision: Decision,
        who: Approver = OPERATOR,
        *,
        on_event: EventListener | None = None,
    ) -> Result:
        """Decide a pending call: every interface passes a person's decision to this method.

        An approved call runs after all its checks passed again. Edited arguments are validated
        and checked; an edit also approves the call, except for critical tools, which ask for
        another confirmation. A rejected or answered call never runs.

        Args:
            confirmation_id: The id of the call, or `RUN/KEY`.
            decision: Approve, edit, reject or respond.
            who: The person who decides; by default the operator of the host.
            on_event: Receives the progress and the items of the call, but not of a run.

        Returns:
            The call's Result, or a denial if this person can't decide it any more. Sensitive
            values of its data are hidden from everybody but the caller.
        """
        who = self._typed(who)
        calls = (await self._project.dispatcher()).confirmations
        result = await self._decide_run(str(confirmation_id), decision, who)
        if result is None:
            result = await calls.decide(confirmation_id, decision, who, on_event)
        events = self._project.workspace_events
        waits = result.confirmation is not None and result.confirmation.id == confirmation_id
        if (
            events
            and not waits
            and (result.error is None or result.error.code not in _NOTHING_HAPPENED)
        ):
            told = {"id": confirmation_id, "state": _STATES[decision.kind], "tool": result.tool}
            known = await calls.get(confirmation_id)
            events.tell("pending", told, who.user if known is None else known.call.caller.user)
        return result

    def can_approve(self, one: Confirmation, who: Approver) -> bool:
        """Return whether a decision of this person may be a yes: nobody approves an own review.

        Args:
            one: A pending call.
            who: The person.
        """
        from toolmd._call.approvals import may_approve

        return may_approve(one, self._typed(who), dt.datetime.now(dt.UTC))

    def _typed(self, who: Approver) -> Approver:
        """Return a person with facts of their types."""
        if not who.context:
            return who
        identity = Identity.of(self._project.live.settings)
        typed = identity.typed(Caller(who.user, who.context, roles=who.roles))
        return who._replace(context=typed.context)

    async def approve(  # noqa: PLR0913 - the decision, and who takes it
        self,
        confirmation_id: str,
        edit: Mapping[str, Any] | None = None,
        *,
        user: str | None = None,
        roles: Sequence[str] = (),
        context: Mapping[str, Fact] = NO_CONTEXT,
        by: str | None = None,
        on_event: EventListener | None = None,
    ) -> Result:
        """Approve a pending call and run it; `edit` replaces some of its arguments.

        Args:
            confirmation_id: The id of the call, or `RUN/KEY`.
            edit: The arguments to replace, by name.
            user: The person who decides; None for the operator.
            roles: The roles of the person.
            context: Facts about the person by name.
            by: The name of the person for the audit; `user` by default.
            on_event: As in `decide`.

        Returns:
            The Result, as `decide` returns it.
        """
        decision = Decision.edit(edit) if edit else Decision.approve()
        who = Approver(user, by, tuple(roles), context)
        return await self.decide(confirmation_id, decision, who, on_event=on_event)

    async def reject(
        self,
        confirmation_id: str,
        *,
        user: str | None = None,
        roles: Sequence[str] = (),
        context: Mapping[str, Fact] = NO_CONTEXT,
        by: str | None = None,
    ) -> Result:
        """Reject a pending call: it never runs.

        Args:
            confirmation_id: The id of the call, or `RUN/KEY`.
            user: The person who decides; None for the operator.
            roles: The roles of the person.
            context: Facts about the person by name.
            by: The name of the person for the audit; `user` by default.
        """
        who = Approver(user, by, tuple(roles), context)
        return await self.decide(confirmation_id, Decision.reject(), who)

    async def respond(
        self,
        confirmation_id: str,
        text: str,
        *,
        user: str | None = None,
        roles: Sequence[str] = (),
        context: Mapping[str, Fact] = NO_CONTEXT,
        by: str | None = None,
    ) -> Result:
        """Answer a pending call in place of the tool: it never runs.

        Args:
            confirmation_id: The id of the call, or `RUN/KEY`.
            text: The answer, which becomes the call's result.
            user: The person who decides; None for the operator.
            roles: The roles of the person.
            context: Facts about the person by name.
            by: The name of the person for the audit; `user` by default.
        """
        who = Approver(user, by, tuple(roles), context)
        return await self.decide(confirmation_id, Decision.respond(text), who)

    async def _decide_run(
        self, confirmation_id: str, decision: Decision, who: Approver
    ) -> Result | None:
        """Answer the question of a run; return None if it is none that this person may answer."""
        from toolmd._types.run import Answer

        run_id, slash, key = confirmation_id.partition("/")
        if not slash:
            return None
        runs = self._runs()
        order = await off_loop(runs.questions.order, run_id)
        if order is None:
            return None
        approves, denial = await self._approves(confirmation_id, decision, who)
        if denial is not None:
            return denial
        if not approves and who.user is not None and order.caller.user not in {None, who.user}:
            return None
        answer = Answer(
            approved=decision.kind != "reject",
            text=decision.text if decision.kind == "respond" else None,
            arguments=dict(decision.arguments) or None,
            by=who.name or who.user,
        )
        user = None if order.caller.user is None or approves else who.user
        settle = runs._settle  # noqa: SLF001 - a host answers by `answer`, for the run's own user
        return await settle(run_id, answer, key, user, approves=approves)

    async def _approves(
        self, confirmation_id: str, decision: Decision, who: Approver
    ) -> tuple[bool, Result | None]:
        """Return whether a person gives the approval that a run waits for, or the denial."""
        one = await off_loop(self._runs().questions.find, confirmation_id)
        withdrawn = decision.kind == "reject" and who.user is not None
        if one is None or not one.approvals or (withdrawn and who.user == one.call.caller.user):
            return False, None
        calls = (await self._project.dispatcher()).confirmations
        denial = await calls.deny_approval(one, decision, who)
        return denial is None, denial

    pending_sync = sync_of(pending)
    of_call_sync = sync_of(of_call)
    result_of_sync = sync_of(result_of)
    get_sync = sync_of(get)
    decide_sync = sync_of(decide)
    approve_sync = sync_of(approve)
    reject_sync = sync_of(reject)
    respond_sync = sync_of(respond)


class Crises:
    """The crisis flags of conversations: calls that are not Read Only wait for an operator."""

    def __init__(self, project: Project) -> None:
        self._project = project

    async def list(self) -> tuple[Crisis, ...]:
        """Return the flagged conversations, oldest first."""
        return await off_loop(lambda: self._project.store.crises.flagged())  # noqa: PLW0108 - opened there

    async def heard(
        self, message: str, *, conversation: str | None = None, user: str | None = None
    ) -> bool:
        """Return whether a user's message contains a crisis word, and flag the conversation then.

        `call` and `handle` search their message without this; it is for messages without either.

        Args:
            message: The user's own words.
            conversation: The host's name for the conversation; None flags none.
            user: The signed-in user.

        Raises:
            UnreachableError: The store can't be used.
        """
        caller = Caller(user, message=message, conversation=conversation)
        return await (await self._project.dispatcher()).crisis.hear(caller)

    async def clear(self, conversation: str, *, user: str | None = None) -> None:
        """Clear the flag of a conversation, after a person has looked after it.

        Args:
            conversation: The host's name for the conversation.
            user: Its user; None if nobody was signed in.

        Raises:
            NotFoundError: The user's conversation has no flag.
        """
        if not await off_loop(lambda: self._project.store.crises.clear(conversation, user)):
            whose = "" if user is None else f" of user {user!r}"
            raise NotFoundError(
                f"conversation {conversation!r}{whose} has no crisis flag;"
                " `toolmd crises` lists those that have"
            )

    list_sync = sync_of(list)  # noqa: A003 - the method above
    heard_sync = sync_of(heard)
    clear_sync = sync_of(clear)


StoreChange = tuple[WorkspaceEventKind, dict[str, Any], str | None]
"""The kind of an event, its JSON, and its user."""


class StoreChanges:
    """The confirmations and runs of a store, as they were at the last look."""

    def __init__(self, project: Project, runs: "Callable[[], Runs]") -> None:
        self._project = project
        self._of_runs = runs
        self._pending: dict[str, _Waiting] = {}
        """The pending calls by id."""
        self._runs: dict[str, str] = {}
        """The states of the runs that execute or changed recently."""

    def note(self, kind: str, data: dict[str, Any], user: str | None) -> None:
        """Note an event of this process, which is no news."""
        if kind == "run":
            self._runs[data["run_id"]] = data["state"]
        elif kind == "pending" and data["state"] == "pending":
            self._pending[data["id"]] = _Waiting(data["tool"], user)
        elif kind == "pending":
            self._pending.pop(data["id"], None)

    async def look(self) -> list[StoreChange]:
        """Return the changes since the last look; they may include some of this process.

        Raises UnreachableError.
        """
        dispatcher = await self._project.dispatcher()
        calls, at = dispatcher.confirmations, dispatcher.clock()
        now = await off_loop(lambda: {one.id: _Waiting.of(one, at) for one in calls.pending()})
        before, self._pending = self._pending, now
        changes = [_event(one, "pending", now[one]) for one in now.keys() - before.keys()]
        changes += [_event(one, "closed", before[one]) for one in before.keys() - now.keys()]
        changes += [
            _event(one, "escalated", now[one])
            for one in now.keys() & before.keys()
            if before[one].grew_to(now[one])
        ]
        return changes + await off_loop(self._run_changes)

    def _run_changes(self) -> list[StoreChange]:
        # A project of tools alone opens no store of runs.
        if not self._project.live.registry.skills or not (runs := self._of_runs()).keeps:
            return []
        executed = [run for run, state in self._runs.copy().items() if state == "running"]
        before, self._runs = self._runs, {}
        changes: list[StoreChange] = []
        engine = runs.durable()
        for run_id, skill, state, user in engine.store.changed(engine.clock(), executed):
            self._runs[run_id] = state
            if before.get(run_id) != state:
                changes.append(("run", {"run_id": run_id, "skill": skill, "state": state}, user))
        return changes


class _Waiting(NamedTuple):
    """A pending call, as it was at the last look."""

    tool: str
    user: str | None
    roles: frozenset[str] | None = None
    """The roles that may approve it; None before the first look."""

    def grew_to(self, later: "_Waiting") -> bool:
        """Return whether further roles may approve it later."""
        return self.roles is not None and later.roles is not None and self.roles < later.roles

    @classmethod
    def of(cls, one: Confirmation, now: float) -> "_Waiting":
        roles = (role for each in one.approvals for role in each.roles(now))
        return cls(one.tool, one.call.caller.user, frozenset(roles))


def _event(confirmation_id: str, state: str, of: _Waiting) -> StoreChange:
    return "pending", {"id": confirmation_id, "state": state, "tool": of.tool}, of.user
