"""Call a tool once under its key, with the confirmation that it may need."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from toolmd._skills.frame import DeclinedError, Frame, InsteadError, StepError
from toolmd._skills.journal import CancelledRunError, UncertainOutcome
from toolmd._skills.person import answered, confirmation, veiled
from toolmd._skills.text import sentence
from toolmd._types.asked import Asked
from toolmd._types.result import ConfirmationRequest, Result
from toolmd._types.run import Question
from toolmd._types.skill import Step
from toolmd._types.tool import ToolSpec
from toolmd._validation.words import shown_value
from toolmd.errors import logged

MAX_PROMPTS = 3
"""How often one call may ask for confirmation again, since earlier ones may expire."""
_HELD = frozenset({"confirm", "review"})
_PASSING = frozenset({"failed", "unknown"})
_WAITS = frozenset({"internal_guard_error", "tool_error"})
"""The codes of calls that never started, if they may be sent again after a while."""
_LAPSED = frozenset({"confirmation_expired", "confirmation_not_found"})


class Done(NamedTuple):
    """A call as the record stores it: JSON."""

    outcome: str
    data: Any
    code: str
    message: str
    held: ConfirmationRequest | None

    @classmethod
    def of(cls, result: Result) -> "Done":
        """Return the parts of a result that a run needs."""
        error = result.error
        code, said = (error.code, error.message) if error else ("", result.message)
        return cls(result.outcome, result.data, code, said, result.confirmation)

    def to_json(self) -> dict[str, Any]:
        """Return the record."""
        return {**self._asdict(), "held": self.held and self.held._asdict()}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> "Done":
        """Read a record."""
        held = record["held"]
        return cls(**{**record, "held": ConfirmationRequest(**held) if held else None})


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One recorded call of a tool."""

    frame: Frame
    step: Step
    tool: str
    arguments: dict[str, Any]
    key: str
    """Its key in the record."""
    name: str
    """Its name for the idempotency key: the same for each try."""
    answer: dict[str, Any] | None = None
    """The values for what its server asked for."""
    by: str | None = None
    """The person who agreed to the call, where their name is known."""

    async def run(self, *, approved: bool) -> Any:
        """Return the tool's data, or raise StepError, DeclinedError or InsteadError.

        With `approved`, a person has approved exactly these arguments, which confirms the call at
        once. It does not approve a review, which has its own question for another person.
        """
        recorded_call, reviewed = self, False
        done = await recorded_call.dispatch(self.key)
        for number in range(MAX_PROMPTS):
            if done.outcome not in _HELD or done.held is None:
                break
            review = done.outcome == "review"
            # The step's Ask is no answer to what a server asks for.
            if not approved or (review and not reviewed) or done.held.form is not None:
                recorded_call = await recorded_call.agreed(done.held, number, review=review)
                reviewed = review
            confirmed = await recorded_call.confirm(done.held, f"{self.key}:confirm{number}")
            # A yes can arrive after the confirmation expired; it then approves the new one.
            approved = recorded_call.may_repeat(confirmed)
            done = (
                await recorded_call.dispatch(f"{self.key}:again{number}") if approved else confirmed
            )
        if done.outcome == "ok":
            return done.data
        raise _failure(self.tool, done)

    async def dispatch(self, key: str) -> Done:
        """Send the call through the dispatcher, once under its key."""
        call = self.frame.call(self.tool, self.arguments, self.name)
        return await self._recorded(key, lambda: self.frame.executor.call(call))

    async def confirm(self, held: ConfirmationRequest, key: str) -> Done:
        """Approve the confirmation with these arguments."""
        return await self._recorded(key, lambda: self._lift(held))

    async def agreed(
        self, held: ConfirmationRequest, number: int, *, review: bool
    ) -> "RecordedCall":
        """Ask for approval and return the approved call; otherwise reject the confirmation."""
        question = confirmation(
            self.frame, self.step, self.tool, self._shown(held), f"{self.key}:ask{number}", held
        )._replace(kind="review" if review else None)
        try:
            answer = await answered(self.frame, self.step, question)
        except (DeclinedError, InsteadError) as no:
            await self._reject(held, f"{self.key}:reject{number}", no.by)
            raise
        except CancelledRunError:
            await self._reject(held, f"{self.key}:reject{number}", None)
            raise
        if held.form is not None:
            return replace(self, answer=answer.arguments or {}, by=answer.by)
        changed = {**self.arguments, **(answer.arguments or {})}
        return replace(self, arguments=changed, by=answer.by)

    def _shown(self, held: ConfirmationRequest) -> dict[str, Any]:
        return self.arguments if held.form is None else Asked("", held.form).defaults

    def may_repeat(self, done: Done) -> bool:
        """Return whether a call without its confirmation may be sent again without acting twice."""
        return done.code in _LAPSED or self._was_used(done.code)

    async def _lift(self, held: ConfirmationRequest) -> Result:
        """Approve the confirmation; an approval from before a crash still counts.

        One entry of the record covers all of it, so a call that repeatedly kills its process makes
        no visible progress.
        """
        given = self.arguments if held.form is None else self.answer or {}
        executor, call = self.frame.executor, self.frame.call(self.tool, given, self.name)
        result = await executor.confirm(held.id, call, self.by)
        if result.error is None or not self._was_used(result.error.code):
            return result
        renewed = await executor.call(call)
        if renewed.outcome != "confirm" or renewed.confirmation is None:
            return renewed
        return await executor.confirm(renewed.confirmation.id, call, self.by)

    def _was_used(self, code: str) -> bool:
        tool = self.frame.order.plan.tools.get(self.tool)
        return code == "confirmation_used" and tool is not None and tool.is_repeatable

    async def _reject(self, held: ConfirmationRequest, key: str, by: str | None) -> None:
        async def reject() -> bool:
            call = self.frame.call(self.tool, {}, self.name)
            await self.frame.executor.reject(held.id, call, by)
            return True

        await self.frame.journal.perform(key, reject, undoing=True)

    async def _recorded(self, key: str, reach: Callable[[], Awaitable[Result]]) -> Done:
        effect, uncertain = partial(self._started, key, reach), self._uncertain(key)
        try:
            return Done.from_json(await self.frame.perform(key, effect, uncertain))
        except CancelledRunError:
            if uncertain is not None and self.frame.journal.begun(key):
                step = f"step {key.partition(f':{self.tool}')[0]} ({self.step.title})"
                doubt = f"{self.tool} may have taken effect, and is not undone"
                self.frame.doubts.append(sentence(f"Not known: {step}: {doubt}"))
            raise

    async def _started(self, key: str, reach: Callable[[], Awaitable[Result]]) -> dict[str, Any]:
        """Return the result as JSON; a call that never started is sent again, if the run may wait.

        The step's Timeout is for each call, and not for that wait. Any other error on the way is a
        failure, so that earlier steps are undone.
        """
        for tried in itertools.count():
            limit = asyncio.timeout(self.step.timeout_s)
            try:
                async with limit:
                    result = await reach()
            except Exception as error:  # noqa: BLE001 - as above
                tool = self.frame.order.plan.tools.get(self.tool)
                late = limit.expired()
                done = _late(tool, self.tool, self.step.timeout_s) if late else _broken(
                    self.tool, error
                )  # fmt: skip
                return done.to_json()
            if not _never_started(result) or not await self.frame.journal.wait(key, tried):
                return Done.of(result).to_json()
        raise AssertionError("counting does not end")

    def _uncertain(self, key: str) -> UncertainOutcome | None:
        """Return the question if a process dies during this call; None for a repeatable call."""
        tool = self.frame.order.plan.tools.get(self.tool)
        if tool is None or tool.is_repeatable:
            return None
        question = veiled(
            self.frame,
            Question(self.frame.order.id, key, self.frame.spec.name, self.step.title,
                     "", self.tool, self.arguments, "high"),
        )  # fmt: skip
        given = (question.arguments or {}).items()
        called = f" with {', '.join(f'{k}: {shown_value(v)}' for k, v in given)}" if given else ""
        prompt = (
            f"Did {self.tool} take effect? The process ended while it was called{called} for the "
            f"step '{self.step.title}', and it must not be called twice."
        )
        happened = Done("ok", None, "", "", None).to_json()
        return UncertainOutcome(question._replace(prompt=prompt), happened)


def _broken(name: str, error: Exception) -> Done:
    reference = logged(error, "the call of %s did not reach its tool", name)
    message = (
        f"the call failed and may have taken effect; the log has the reason under {reference}."
    )
    return Done("unknown", None, "outcome_unknown", message, None)


def _never_started(result: Result) -> bool:
    """Return whether a call waits for the store or for its Python, and nothing has run."""
    error = result.error
    return error is not None and error.code in _WAITS and error.retry_after_ms is not None


def _late(tool: ToolSpec | None, name: str, timeout_s: float | None) -> Done:
    within = f"{name} did not answer within {timeout_s:g} s"
    if tool is not None and tool.read_only:
        return Done("failed", None, "timeout", f"{within}.", None)
    message = f"{within}; it may have taken effect all the same."
    if tool is not None and tool.is_repeatable:
        return Done("failed", None, "timeout", message, None)
    return Done("unknown", None, "outcome_unknown", message, None)


def _failure(name: str, done: Done) -> StepError:
    codes = {"confirm": "confirmation_required", "review": "review_required"}
    code = done.code or codes.get(done.outcome, "tool_error")
    passing = done.outcome in _PASSING or code == "rate_limited"
    return StepError(code, f"{name}: {done.message or code}", passing=passing)
