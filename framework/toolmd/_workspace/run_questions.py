"""The open questions of runs as pending calls, how a person is asked, and what an answer does."""

import heapq
import inspect
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator
from itertools import islice
from typing import Any, Literal

from toolmd._call.arguments import Rules, mismatch
from toolmd._call.confirmations import NOT_YOURS
from toolmd._call.denial import CallDenied
from toolmd._call.result import answer_of
from toolmd._call.threads import AROUND
from toolmd._expressions import CALLER
from toolmd._skills.engine import Engine
from toolmd._skills.store import StoredQuestion
from toolmd._types.approval import either
from toolmd._types.asked import Asked
from toolmd._types.call import Call
from toolmd._types.confirmation import Confirmation
from toolmd._types.result import Failure, Result, SkillResult
from toolmd._types.run import Answer, Asker, Order, Question
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec
from toolmd._validation import ArgumentsValidator, InvalidArgumentsError, MalformedError
from toolmd._validation.redact import HIDDEN, Secrets, changes, redacted
from toolmd._validation.strict_json import JsonError, read_json

SOME = 100
"""How many questions are read at once."""


class Questions:
    """The questions of runs; each method reads the stored runs, and blocks."""

    def __init__(self, engines: Callable[[], tuple[Engine, ...]]) -> None:
        """`engines` returns those that may have runs."""
        self._engines = engines

    def each(self, after: tuple[float, str] | None) -> Iterator[Confirmation]:
        """Yield the open questions of all runs as pending calls, the oldest first.

        `after` is the `created` and the id of the one after which to begin.
        """

        def of(engine: Engine, after: tuple[float, str] | None) -> Iterator[StoredQuestion]:
            while some := engine.store.open(None, after, SOME):
                yield from some
                after = _place(some[-1])

        asked = heapq.merge(*(of(engine, after) for engine in self._engines()), key=_place)
        while some := list(islice(asked, SOME)):
            yield from self._confirmations(some)

    def of(self, run_id: str) -> tuple[Confirmation, ...]:
        """Return the open questions of a run as pending calls."""
        return self._confirmations(
            one for engine in self._engines() for one in engine.store.open(run_id)
        )

    def find(self, confirmation_id: str) -> Confirmation | None:
        """Return an open question by its id; None if it is not open."""
        run_id = confirmation_id.partition("/")[0]
        return next((one for one in self.of(run_id) if one.id == confirmation_id), None)

    def examine(
        self, question: Question, answer: Answer, *, own: bool, approves: bool
    ) -> Failure | tuple[str, ...]:
        """Return why an answer does not count, or the notes that the result says of it.

        `own` says that the run's user answers, `approves` that a person does whom By names. A
        mistyped argument must not end the run.
        """
        if question.by is not None and answer.approved and not approves:
            by = question.by if isinstance(question.by, str) else either(question.by)
            return Failure("not_allowed", f"Nobody answers for another: it waits for {by}.")
        if question.kind == "review" and answer.approved and own:
            return Failure("review_required", NOT_YOURS)
        if question.asks_outcome:
            return self._check_outcome(question, answer) or ()
        instead = answer.text is not None and question.tool is not None
        words = (f"A person answered; {question.tool} did not run.",) if instead else ()
        if question.tool is None or question.form is not None or not answer.arguments:
            return words
        asked = _subject(question, self.orders([question.run_id])[question.run_id])
        ignores = isinstance(asked, ToolSpec) and asked.unknown_parameters == "ignore"
        # The others were checked, and the question hides the Sensitive ones among them.
        edited = tuple(one for one in asked.parameters if one.name in answer.arguments)
        edit, before = ArgumentsValidator(edited, ignore_unknown=ignores), question.arguments or {}
        try:
            arguments = {**before, **edit.validate(answer.arguments)}
            if isinstance(asked, ToolSpec) and asked.rules and HIDDEN not in str(arguments):
                Rules(asked).check(arguments)
        except (MalformedError, InvalidArgumentsError) as error:
            return CallDenied(mismatch(error)).failure
        except CallDenied as denial:
            return denial.failure
        edits = {**before, **answer.arguments} if before else before
        whose = "The user" if own or question.kind != "review" else "The approver"
        return words or changes(before, edits, asked.parameters, whose)

    def _check_outcome(self, question: Question, answer: Answer) -> Failure | None:
        """Return why a statement on an interrupted call does not count, or None."""
        if not answer.approved:
            return None
        said = answer.text
        if said is None:
            states = f"toolmd runs resolve {question.run_id} --done --result JSON"
            message = f"The run reads what {question.tool} returned: state it ({states})."
            return Failure("invalid_arguments", message) if question.saves is not None else None
        asked = _subject(question, self.orders([question.run_id])[question.run_id])
        try:
            value = read_json(said)
        except JsonError as error:
            message = f"The result of {question.tool} is not valid JSON: {error}."
            return Failure("invalid_arguments", message)
        notes: tuple[str, ...] = ()
        if isinstance(asked, ToolSpec):
            notes = answer_of(asked.name, asked.returns)(value, None, 0.0).notes
        return Failure("invalid_arguments", " ".join(notes)) if notes else None

    def order(self, run_id: str) -> Order | None:
        """Return the order of a run; None if there is no such run."""
        return self.orders([run_id]).get(run_id)

    def orders(self, ids: Collection[str]) -> dict[str, Order]:
        """Return the orders of runs by their ids, without missing runs."""
        found: dict[str, Order] = {}
        for engine in self._engines():
            if len(found) < len(ids):
                found.update((order.id, order) for order in engine.store.orders(ids))
        return found

    def _confirmations(self, some: Iterable[StoredQuestion]) -> tuple[Confirmation, ...]:
        asked = [one for one in some if one.question.asks]
        orders = self.orders({one.question.run_id for one in asked})
        # A run may be deleted meanwhile.
        kept = [one for one in asked if one.question.run_id in orders]
        return tuple(_confirmation(one, orders[one.question.run_id]) for one in kept)


def waits(call: Call, ended: SkillResult, pending: tuple[Confirmation, ...]) -> Result:
    """Return the Result of a run that waits for a person, or for a time."""
    result = Result(success=False, tool=call.tool, outcome="waiting", message=ended.message,
                    attempts=1, run_id=ended.run_id)  # fmt: skip
    if not pending:
        return result
    waiting = tuple(
        one._replace(call=one.call._replace(id=call.id, arguments=one.shown)) for one in pending
    )
    first, message = waiting[0], "The user must confirm it."
    if first.approvals:
        message = f"It waits for {first.approvals[0].whose}: {first.prompt}"
    elif first.kind == "review":
        message = "An operator must review one of its calls first."
    return result._replace(outcome=first.kind, message=message, confirmation=first, waiting=waiting)


def ask_through(ask: Asker, by: str | None) -> Callable[[Question], Awaitable[Answer | None]]:
    """Return a coroutine function that asks a person through the host's `ask`.

    It asks the run's own user, so a review stays open for somebody else. A question that needs the
    result of an interrupted call stays open, too. `by` is the person's name, where the host knows
    it.
    """

    async def asked(question: Question) -> Answer | None:
        if question.kind == "review":
            return None
        if inspect.iscoroutinefunction(ask):
            reply = await ask(question)
        else:
            # Someone at a terminal takes long: time-outs and parallel steps must not wait.
            reply = await AROUND.run(lambda: ask(question))
            reply = await reply if inspect.isawaitable(reply) else reply
        given = Answer(approved=reply) if isinstance(reply, bool) else reply
        if given and given.approved and question.asks_outcome and question.saves is not None:
            return None  # `Runs.answer` checks what the call returned.
        return given and given._replace(by=given.by or by)

    return asked


def _place(one: StoredQuestion) -> tuple[float, str]:
    """Return what orders questions: when one was asked, and its id."""
    return one.opened, one.question.id


def _subject(question: Question, order: Order) -> ToolSpec | SkillSpec:
    """Return the tool or skill that a question is about, else the run's skill."""
    name, plan = question.tool or "", order.plan
    return plan.tools.get(name) or plan.skills.get(name) or plan.skill


def _confirmation(one: StoredQuestion, order: Order) -> Confirmation:
    question, skill = one.question, order.plan.skill
    asked = _subject(question, order)
    given: Any = (question.arguments if question.tool is not None else order.inputs) or {}
    secrets = Secrets()
    secrets.learn(given, asked.parameters)
    secrets.learn(order.inputs, skill.parameters)
    name, prompt = question.id, secrets.hide(question.prompt)
    caller = order.caller._replace(message=secrets.hide(order.caller.message))
    call = Call(question.tool or skill.name, given, name, caller=caller)
    shown = redacted(given, asked.parameters)
    if question.form is not None:
        call, shown = call._replace(asked=Asked(prompt, question.form)), given
    kind: Literal["confirm", "review"] = "review" if question.kind == "review" else "confirm"
    if question.reads:
        # A skill's Context adds facts to those of the caller.
        caller = caller._replace(context=question.reads.get(CALLER, caller.context))
        call = call._replace(given=question.reads, caller=caller)
    return Confirmation(name, prompt, question.sensitivity, kind, call, shown, one.opened,
                        one.expires, saves=question.saves, approvals=question.approvals(one.opened),
                        reason=question.step)  # fmt: skip
