"""Take calls of skills from a reply: a run each, its questions decided like held calls."""

import asyncio
from collections.abc import Awaitable, Mapping
from time import perf_counter
from typing import Any, NamedTuple

from toolmd._call.arguments.misfit import misfit
from toolmd._call.confirm.desk import NOT_YOURS
from toolmd._crash import logged
from toolmd._model.call import Budget, Call
from toolmd._model.result import Failure, Held, Outcome, Result, SkillResult
from toolmd._model.run import Answer, Question
from toolmd._model.skill import SkillSpec
from toolmd._model.turn import Pending
from toolmd._model.verdict import REFUSALS
from toolmd._run.engine.outcomes import AnsweredError
from toolmd._values import ArgumentsValidator, InvalidArgumentsError, MalformedError
from toolmd._workspace.replies.budgets import LateRunError, in_time, within
from toolmd._workspace.runs.runs import Runs, new_run_id
from toolmd.errors import NotFoundError

MAX_ASKED = 1000
"""Questions beyond these are forgotten, the oldest first; their runs still hold them."""


class CallQuestion(NamedTuple):
    """A question of a run that a reply's call began."""

    call: Call
    question: Question

    @property
    def id(self) -> str:
        """The name by which it is decided."""
        return f"{self.question.run_id}/{self.question.key}"

    def pending(self) -> Pending:
        """Give what a person needs to decide."""
        question, call = self.question, self.call
        given = question.arguments if question.tool is not None else call.arguments
        assert isinstance(given, Mapping)
        tool, kind = question.tool or call.tool, question.kind or "confirm"
        return Pending(self.id, kind, call.id, tool, dict(given), question.prompt,
                       question.sensitivity, question.saves)  # fmt: skip


class SkillCalls:
    """The skills that replies called, and what their runs wait for."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._asked: dict[str, CallQuestion] = {}

    async def take(self, spec: SkillSpec, call: Call) -> Result:
        """Run the skill, or give why not; a dry run ends where the first step would begin.

        What its steps call comes down the ladder, each for itself.
        """
        began = perf_counter()
        try:
            inputs = ArgumentsValidator(spec.parameters).validate(call.arguments)
        except (MalformedError, InvalidArgumentsError) as error:
            return _result(call, "denied", began, error=misfit(error))
        call = call._replace(arguments=inputs)
        if call.dry_run:
            return _result(call, "allowed", began)
        run_id = new_run_id()
        run = self._runs.run(
            spec.name, inputs, caller=call.caller, confidence=call.confidence, run_id=run_id
        )
        return await self._go(call, began, run, run_id)

    def pending(self, result: Result) -> tuple[Pending, ...]:
        """Give everything that the run behind a result waits for."""
        held = result.confirmation
        first = None if held is None else self._asked.get(held.id)
        if first is None:
            return ()
        run_id = first.question.run_id
        same = [asked for asked in self._asked.values() if asked.question.run_id == run_id]
        return tuple(asked.pending() for asked in same)

    def waiting(self, held_id: str) -> Pending | None:
        """Give a question that no person decided yet."""
        asked = self._asked.get(held_id)
        return None if asked is None else asked.pending()

    async def decide(self, held_id: str, answer: Answer, user: str | None) -> Result | None:
        """Answer a question and run on; None where no run asked it, or another user's did."""
        asked = self._asked.get(held_id)
        run_id, _, key = held_id.partition("/")
        call = asked.call if asked else await asyncio.to_thread(self._begun, run_id)
        if call is None or (user is not None and call.caller.user not in {None, user}):
            return None
        began = perf_counter()
        question = asked.question if asked is not None else await self._open(run_id, key)
        review = question is not None and question.kind == "review"
        if review and answer.approved and user is not None and user == call.caller.user:
            return _result(call, "denied", began, error=Failure("held_for_review", NOT_YOURS))
        # Taken before it is answered: of racing decisions one counts.
        self._asked.pop(held_id, None)
        notes = () if question is None else await asyncio.to_thread(self._notes, question, answer)
        try:
            answered = self._runs.answer(run_id, key, answer)
            result = await self._go(call, began, answered, run_id)
            return result._replace(notes=(*notes, *result.notes))
        except NotFoundError as error:
            used = isinstance(error, AnsweredError)
            code = "confirmation_used" if used else "confirmation_expired"
            return _result(call, "denied", began, error=Failure(code, str(error)))

    def _notes(self, question: Question, answer: Answer) -> tuple[str, ...]:
        if question.tool is not None and answer.text is not None:
            return (f"A person answered; {question.tool} did not run.",)
        return self._runs.changed(question, answer.arguments)

    async def _open(self, run_id: str, key: str) -> Question | None:
        """Give a question that another process asked; None where it is open no more."""
        try:
            questions = (await self._runs.show(run_id)).questions
        except NotFoundError:
            return None
        return next((question for question in questions if question.key == key), None)

    def _begun(self, run_id: str) -> Call | None:
        """Give the call that a run is, whichever process began it."""
        order = self._runs.engines.order(run_id)
        if order is None:
            return None
        return Call(order.plan.skill.name, order.inputs, None, order.confidence, order.caller)

    async def _go(
        self, call: Call, began: float, run: Awaitable[SkillResult], run_id: str
    ) -> Result:
        budget = call.budget
        try:
            if budget is None:
                result = await run
            else:
                left = budget.timeout_ms / 1000 - (perf_counter() - began)
                result = await in_time(run, left, lambda: self._runs.cancel(run_id))
            if result.code == "waiting" and result.run_id is not None:
                return await self._waiting(call, began, result.run_id)
        except NotFoundError:
            raise
        except LateRunError:
            assert budget is not None
            return self._late(call, began, budget, run_id)
        except Exception as error:  # noqa: BLE001 - one call's failure must not cancel another's
            reference = logged(error, "the run of %s failed", call.tool)
            message = f"{call.tool} failed inside; its operator finds the reason under {reference}."
            return _result(call, "failed", began, error=Failure("tool_error", message))
        if result.success:
            done = _result(call, "ok", began, message=result.message, data=result.data)
            return done if budget is None else within(done, budget)
        code = result.code or "skill_failed"
        outcome: Outcome = "denied" if code in REFUSALS or code == "refused" else "failed"
        failure = Failure(code, result.message)
        return _result(call, outcome, began, error=failure, data=result.data or None)

    def _late(self, call: Call, began: float, budget: Budget, run_id: str) -> Result:
        message = (
            f"{call.tool} did not end within {budget.timeout_ms / 1000:g} s: its run {run_id} is"
            f" stopped before its next call, and what it did is undone."
        )
        if self._runs.is_repeatable(call.tool):
            return _result(call, "failed", began, error=Failure("timeout", message))
        return _result(call, "unknown", began, error=Failure("outcome_unknown", message))

    async def _waiting(self, call: Call, began: float, run_id: str) -> Result:
        questions = (await self._runs.show(run_id)).questions
        for asked in (CallQuestion(call, question) for question in questions):
            self._asked[asked.id] = asked
        while len(self._asked) > MAX_ASKED:
            del self._asked[next(iter(self._asked))]
        first = CallQuestion(call, questions[0])
        held = Held(first.id, first.question.prompt, first.question.sensitivity)
        if first.question.kind == "review":
            message = "Somebody must look at one of its calls first."
            return _result(call, "review", began, message=message, held=held)
        return _result(call, "confirm", began, message="The user must confirm it.", held=held)


def _result(  # noqa: PLR0913 - the parts of a result, by keyword
    call: Call,
    outcome: Outcome,
    began: float,
    *,
    message: str = "",
    data: Any = None,
    error: Failure | None = None,
    held: Held | None = None,
) -> Result:
    return Result(
        success=outcome in {"ok", "allowed"},
        tool=call.tool,
        outcome=outcome,
        message=message,
        data=data,
        error=error,
        tool_call_id=call.id,
        attempts=0 if outcome in {"denied", "allowed"} else 1,
        duration_ms=(perf_counter() - began) * 1000,
        confirmation=held,
    )
