"""The dialogue of a workspace and a host: offer tools, begin calls, carry out decisions."""

from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any, NamedTuple

from toolmd._export.function import CONFIDENCE
from toolmd._types.call import Call, Caller
from toolmd._types.confirmation import UNDECIDED, Confirmation
from toolmd._types.decision import Approver, Decision
from toolmd._types.identity import is_for
from toolmd._types.result import EventListener, Failure, Result
from toolmd._types.run import JournalEntry
from toolmd._workspace import Workspace
from toolmd._workspace.background_loop import off_loop, sync_of
from toolmd._workspace.names import Names
from toolmd._workspace.results import changed, decide_for_model

CallerOf = Callable[[Any], Caller]
"""Returns the caller of a host's run context."""
_FIELDS = frozenset(("user", "roles", "context", "message", "conversation", "via"))
NO_QUESTION = "This answer names no question that waits for this call: nothing ran."
OTHER_CALL = "This answer is for a question about other arguments: nothing ran."
EDITED = "A person changed the arguments of this call before it ran."


class HostCall(NamedTuple):
    """A call as a host names it."""

    name: str
    """The tool or skill."""
    arguments: Mapping[str, Any] | str
    """What the model wrote."""
    id: str
    """The host's id of the call."""
    caller: Caller
    """Who calls, by the host's run context."""


class Host:
    """What every adapter does, in the words of no framework."""

    def __init__(self, workspace: Workspace, caller: CallerOf | None = None) -> None:
        """Keep the workspace; `caller` returns the caller of the host's run context."""
        self.workspace = workspace
        self._caller = caller

    def caller_of(
        self, context: Any, *, message: str = "", conversation: str | None = None
    ) -> Caller:
        """Return the caller of a host's run context.

        Args:
            context: The host's run context: a Caller, a mapping of its fields, or None, unless
                the host has a function of its own.
            message: The user's message, where the context has none.
            conversation: The conversation, where the context names none.

        Raises:
            TypeError: The context names no caller.
        """
        if self._caller is not None:
            context = self._caller(context)
        if isinstance(context, Mapping):
            if unknown := sorted(map(str, context.keys() - _FIELDS)):
                raise TypeError(f"a caller has no {', '.join(unknown)}: pass `caller`, a function")
            context = Caller(**context)
        if context is None:
            context = Caller()
        if not isinstance(context, Caller):
            name = type(context).__name__
            raise TypeError(f"{name} is no caller: pass `caller`, a function that makes one of it")
        roles: Any = context.roles  # A host may give a list, or one role.
        return context._replace(
            roles=(roles,) if isinstance(roles, str) else tuple(roles),
            message=context.message or message,
            conversation=context.conversation or conversation,
        )

    async def tools(self, caller: Caller) -> list[dict[str, Any]]:
        """Return what this caller may be offered now, each as MCP describes a tool."""
        suspended, names = await off_loop(self.workspace.suspended_tools), self.names()
        offered = []
        for item in self.workspace.export("mcp"):
            called = names.find(item["name"])
            if called is None or (called.name not in suspended and is_for(called.spec, caller)):
                offered.append(item)
        return offered

    tools_sync = sync_of(tools, at="workspace._project")

    async def finish(self, step: Coroutine[Any, Any, Result]) -> Result:
        """Return the result of a step, such as `begin`."""
        return await step

    finish_sync = sync_of(finish, at="workspace._project")

    def names(self) -> Names:
        """Return the tools and skills of the snapshot by the names that models know."""
        return Names(self.workspace.registry)

    async def begin(self, call: HostCall, on_event: EventListener | None = None) -> Result:
        """Make a call, once for its id: again, its question or its result is the answer."""
        return await self._hide(await self.workspace.dispatch(self._named(call), on_event))

    async def questions(self, call: HostCall) -> tuple[Confirmation, ...]:
        """Return the questions of a call, the oldest first.

        A call that repeats a pending one of its conversation waits for the question of that one.
        """
        caller, confirmations = call.caller, self.workspace.confirmations
        found = await confirmations.of_call(
            call.id, conversation=caller.conversation, user=caller.user
        )
        if found or caller.conversation is None:
            return found
        checked = await self.workspace.dispatch(self._named(call)._replace(dry_run=True))
        if (asked := checked.confirmation) is None:
            return ()
        return tuple(
            one for one in await confirmations.pending(user=caller.user)
            if (one.tool, one.call.arguments) == (asked.tool, asked.call.arguments)
            and _whose(one) == _whose(asked)
        )  # fmt: skip

    def _named(self, call: HostCall) -> Call:
        arguments, confidence = call.arguments, None
        if isinstance(arguments, Mapping) and self._takes_confidence(call.name):
            confidence = arguments.get(CONFIDENCE)
            arguments = {k: v for k, v in arguments.items() if k != CONFIDENCE}
        return Call(call.name, arguments, call.id, confidence, call.caller)

    async def decide(
        self,
        call: HostCall,
        decision: Decision,
        *,
        question: str | None = None,
        who: Approver | Mapping[str, Any] | None = None,
        on_event: EventListener | None = None,
    ) -> Result:
        """Carry out a decision on the question of a call, and return what the model reads.

        Args:
            call: The call as the model made it.
            decision: The decision.
            question: The id of the question that the person saw. Without it, only the sole
                question that this call ever had may be decided.
            who: The person who decides, or a mapping of the fields; by default the caller.
            on_event: Receives the progress of the call.

        Returns:
            The result. It waits again where a person must see the call again.
        """
        asked = await self.questions(call)
        if question is None and len(asked) == 1 and await self._is_first(asked[0]):
            question = asked[0].id
        one = next((one for one in asked if one.id == question), None)
        if one is None and question is not None:
            one = await self._shared(call, question)
        if one is None:
            return _denied(call, "confirmation_not_found", NO_QUESTION)
        if one.state not in UNDECIDED:
            return await self._ended(call, one)
        if "/" not in one.id and not _is_about(call, one):
            return _denied(call, "confirmation_not_found", OTHER_CALL)
        who = Approver(**who) if isinstance(who, Mapping) else who or Approver.of(call.caller)
        confirmations, results = self.workspace.confirmations, self.workspace.results
        result = await self._hide(await decide_for_model(
            confirmations, results, one, decision, who, on_event
        ))  # fmt: skip
        if result.confirmation is not None and result.confirmation.id == one.id:
            return result
        return result._replace(tool_call_id=call.id, tool=call.name)

    async def _shared(self, call: HostCall, question: str) -> Confirmation | None:
        """Return a question by its id if an equal call of the conversation asked it."""
        caller = call.caller
        one = await self.workspace.confirmations.get(question, user=caller.user)
        is_same = one is not None and one.tool == call.name and _is_about(call, one)
        whose = (caller.user, caller.conversation)
        if one is None or not is_same or caller.conversation is None:
            return None
        return one if (one.call.caller.user, one.call.caller.conversation) == whose else None

    async def settle(self, call: HostCall, *, by: str | None = None) -> Result | None:
        """Reject what waits for a call, after its host's person said no; None where nothing does.

        Args:
            call: The call.
            by: The person's name for the record.
        """
        ended = None
        for one in await self.questions(call):
            if one.state in UNDECIDED:
                who = Approver.of(call.caller)._replace(name=by)
                reject = partial(self.workspace.confirmations.decide, one.id, Decision.reject())
                ended = await reject(who)
        return ended

    def edit_of(
        self, call: HostCall, given: Mapping[str, Any], before: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return what a person changed: `null` for an optional argument that was taken out.

        Args:
            call: The call as the model made it.
            given: All arguments, as the person left them.
            before: The arguments as the person saw them; by default the model's.
        """
        written = call.arguments if isinstance(call.arguments, Mapping) else {}
        before = written if before is None else before
        edit = changed(before, given)
        called = self.names().find(call.name)
        known = () if called is None else called.spec.parameters
        edit |= {one.name: None for one in known
                 if not one.required and one.name in written and one.name in before
                 and one.name not in given}  # fmt: skip
        return {k: v for k, v in edit.items() if k != CONFIDENCE}

    async def _hide(self, result: Result) -> Result:
        """Return a result whose question has no Sensitive values, because a host stores it."""
        one = result.confirmation
        if one is None or not one.hidden:
            return result
        stored = await self.workspace.confirmations.get(one.id)
        prompt = one.prompt if stored is None else stored.prompt
        if result.message:
            result = result._replace(message=result.message.replace(one.prompt, prompt))
        return result._replace(confirmation=stored)

    async def _ended(self, call: HostCall, one: Confirmation) -> Result:
        """Return what a decided question led to, or the question that came after it."""
        later = [each for each in await self.questions(call) if each.state in UNDECIDED]
        if later or one.state == "expired":
            return await self.begin(call)
        known = await self.workspace.confirmations.result_of(one.id, user=call.caller.user)
        if known is None:
            message = f"This call was decided before: {one.state}."
            return _denied(call, "confirmation_used", message)
        if one.state == "edited":
            known = known._replace(notes=(EDITED, *known.notes))
        return await self.workspace.results.for_model(known, user=call.caller.user)

    async def _is_first(self, one: Confirmation) -> bool:
        """Return whether a question is the only one that its call or run ever asked."""
        run_id, slash, _ = one.id.partition("/")
        if not slash:
            return True
        view = await self.workspace.runs.get(run_id)
        answered = (entry for entry in view.entries if _is_answer(entry))
        return len(view.questions) == 1 and next(answered, None) is None

    def _takes_confidence(self, name: str) -> bool:
        called = self.names().find(name)
        own = () if called is None else called.spec.parameters
        return all(parameter.name != CONFIDENCE for parameter in own)


def _denied(call: HostCall, code: str, message: str) -> Result:
    return Result(success=False, tool=call.name, outcome="denied", tool_call_id=call.id,
                  error=Failure(code, message))  # fmt: skip


def _is_about(call: HostCall, one: Confirmation) -> bool:
    """Return whether a question is about the arguments that the model gave."""
    if not isinstance(call.arguments, Mapping) or not isinstance(one.call.arguments, Mapping):
        return True
    asked = one.call.arguments
    return all(
        given == asked[name]
        for name, given in call.arguments.items()
        if name in asked and not (isinstance(given, Mapping) and "$result" in given)
    )


def _whose(one: Confirmation) -> Caller:
    """Return the caller of a question, without the words of one request."""
    return one.call.caller._replace(message="", earlier=())


def _is_answer(entry: JournalEntry) -> bool:
    """Return whether an entry of a run is a person's answer, which may be hidden."""
    given = isinstance(entry.value, dict) and {"approved", "late"} <= entry.value.keys()
    return given or ":ask" in entry.key or ":confirm" in entry.key


def approver_of(caller: Caller, answer: Mapping[str, Any]) -> Approver:
    """Return who decides: `user` and `roles` of a host's answer, by default the caller.

    `by` is the person's name for the record.
    """
    if user := answer.get("user"):
        return Approver(user, answer.get("by"), tuple(answer.get("roles", ())))
    return Approver.of(caller)._replace(name=answer.get("by"))
