"""Run the steps of one skill: each effect once under its key, each failure to its way."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from toolmd._skills.call import (
    DeclinedError,
    End,
    Go,
    InsteadError,
    Outcome,
    StepError,
    never_started,
    uncertain,
)
from toolmd._skills.journal import (
    CancelledRunError,
    Effect,
    ParkedError,
    UncertainOutcome,
)
from toolmd._skills.run_names import RunNames
from toolmd._skills.text import ValueTextError, moment_of, sentence, value_of
from toolmd._types.asked import Asked
from toolmd._types.call import Call
from toolmd._types.confirmation import Confirmation
from toolmd._types.result import Result, SkillResult
from toolmd._types.run import UNDOING, Answer, Question, RunEvent, RunKind
from toolmd._types.schema import Schema
from toolmd._types.skill import (
    Expression,
    Step,
    Use,
    Way,
    folded,
)

MAX_ITEMS = 1000
MAX_AT_ONCE = 32
MAX_PROMPTS = 3
"""How often one call may ask for confirmation again, since earlier ones may expire."""
MOST_SILENT = 3
"""How often a repeatable call is made that gives no answer, before it counts as failed."""
_SILENT = frozenset({"timeout", "outcome_unknown"})
_HELD = frozenset({"confirm", "review"})
_LAPSED = frozenset({"confirmation_expired", "approval_expired", "confirmation_not_found"})
_ANYTHING = Schema()
_LEFT_OUT = object()


Jump = Go | End | None
"""Where a step leads; None is the next step."""


class Undo(NamedTuple):
    """A compensating call, bound when its step succeeded; or the effect of a step without Undo."""

    key: str
    step: Step
    tool: str
    """The tool or skill that undoes the step; empty where nothing does, so the effect stays."""
    arguments: dict[str, Any]
    run: "Run"
    """The skill whose step it undoes; it may have ended within another skill."""


RunSkill = Callable[["Run", "Run | None"], Awaitable[SkillResult]]


@dataclass(frozen=True, slots=True)
class Run(RunNames):
    """One skill as it runs: its names, its compensations, and its keys in the record.

    The table of step keys (`Step`) names the method of each key that acts. A method takes the step
    and the value of the method before it, and returns a value or the step's jump.
    """

    run_skill: RunSkill
    """Runs a skill that a step uses, within this one."""
    prefix: str = ""
    """The start of each key: empty, or `2:visit/` within a skill that step 2 uses."""
    item: str = ""
    """The end of a step's key within a loop: `[3]` is the fourth item."""
    depth: int = 0
    undos: list[Undo] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)
    """The title of each step of the run that failed and continued, and why it failed."""
    doubts: list[str] = field(default_factory=list)
    """Sentences on calls of a cancelled run that began, and whose outcome is not known."""

    # The way of a step, in order.

    async def sections(self) -> End:
        """Go through the steps, section by section, to the end of the skill."""
        sections, at = self.spec.workflow_sections, 0
        while True:
            jump: Jump = None
            for step in sections[at].steps:
                if (jump := await self.step(step)) is not None:
                    break
            if not isinstance(jump, Go):
                return jump or End(success=True)
            below = range(at + 1, len(sections))
            here = [n for n in below if folded(sections[n].name) == folded(jump.target)]
            if not here:
                message = f"there is no section '{jump.target}' below"
                raise StepError("unknown_section", message)
            at = here[0]

    async def step(self, step: Step) -> Jump:
        """Carry out a step by the methods of its keys, and return where it leads."""
        if not step.acts:
            return None
        try:
            if step.when is not None and not self.holds(step.when):
                self.tell("skipped", step)
                return None
            self.tell("started", step)
            value: Any = None
            for method in step.methods:
                value = await getattr(self, method)(step, value)
                if isinstance(value, (Go, End)):
                    break
        except DeclinedError as declined:
            return self.decline(step, declined)
        except StepError as error:
            return self.fail(step, error)
        jump = value if isinstance(value, (Go, End)) else None
        if jump is not None and jump.item:
            self.tell("failed", step, f"at {jump.item}")
        else:
            self.tell("done", step)
        return jump

    async def each(self, step: Step, value: Any) -> list[Any] | Go | End:
        """Carry out a step for each item; return the results in order, or an item's jump."""
        del value
        loop = step.for_each
        assert loop is not None
        items = await self.compute(f"{self.key(step)}:items", loop.over)
        if not isinstance(items, list):
            raise StepError("expression_failed", f"`{loop.over.cel}` is no list")
        if len(items) > MAX_ITEMS:
            message = (
                f"`{loop.over.cel}` has {len(items)} items; at most {MAX_ITEMS} are gone through"
            )
            raise StepError("too_many_items", message)
        return await _Loop(self, step, items).run()

    async def wait(self, step: Step, value: Any) -> Any:
        """Return when the time of Wait has come; a time in the past is no wait.

        A duration counts from the last recorded effect, so it stays the same when the run resumes.
        Raises ParkedError before that time, StepError for a value that is not a time.
        """
        assert step.wait is not None
        now = self.journal.now()
        given = step.wait if isinstance(step.wait, float) else self.evaluate(step.wait)
        try:
            until = moment_of(given, now)
        except ValueTextError as error:
            raise StepError("not_a_time", f"Wait: {error}") from None
        if until > now:
            at = f"{until:%Y-%m-%d %H:%M:%S} UTC"
            prompt, moment = f"Waits until {at}.", until.isoformat()
            key = f"{self.key(step)}:wait"
            await self.journal.answer(self.question(step, key, prompt, kind="wait", until=moment))
        return value

    async def ask(self, step: Step, value: Any) -> Any:
        """Ask a person and return their text, or true; `use` asks for its own call."""
        if step.use is not None:
            return value
        assert step.ask is not None
        key, prompt = f"{self.key(step)}:ask", self.question_text(step.ask, None, {})
        asked = self.question(step, key, prompt, saves=step.save_as, **self._approval(step))
        answer = await self.answer(step, asked)
        return True if answer.text is None else answer.text

    def _approval(self, step: Step) -> dict[str, Any]:
        """Return how long an Ask waits and who answers it, as fields of its question."""
        if (one := step.approval) is None:
            return {"timeout_s": step.expires_s or step.timeout_s}
        escalate = [(each.after_s, each.to) for each in one.escalate]
        return self.approval(one.by, escalate, one.expires_s, self.names)

    async def use(self, step: Step, value: Any) -> Any:
        """Call the step's tool or skill and return its data.

        The step's Ask approves exactly these arguments. A failure that may pass is retried as often
        as the step allows. A repeatable call without an answer is made again under its key: its
        effect may be there, so On error waits, and an overloaded machine fails no run. Undo is
        bound as soon as the call has taken effect. An answer in place of the call becomes its
        result; then there is nothing to undo.
        """
        del value
        use, approved, by = step.use, False, None
        assert use is not None
        place = f"{self.key(step)}:{use.name}"
        try:
            arguments = self.bind_arguments(use)
            if step.ask is not None:
                spec = self.tool(use.name)
                asked = self.question(
                    step, f"{self.key(step)}:ask", self.question_text(step.ask, use, arguments),
                    tool=use.name, arguments=arguments, **self._approval(step),
                    sensitivity=(spec.safety.sensitivity if spec is not None else None) or "low",
                )  # fmt: skip
                answer = await self.answer(step, asked)
                # A person who edits a critical call sees it once more in the form that will run.
                # Another person's yes is no word of the caller.
                approved = step.by is None and not (
                    answer.arguments and asked.sensitivity == "critical"
                )
                arguments, by = {**arguments, **(answer.arguments or {})}, answer.by
            for attempt in itertools.count(1):
                key = place if attempt == 1 else f"{place}#{attempt}"
                try:
                    call = ToolCall(self, step, use.name, arguments, key, place, by)
                    data = await call.once(approved=approved)
                    if step.undo is not None:
                        self._bind_undo(step, step.undo, data)
                    if step.for_each is None:
                        self._hold(step, data, passing=True)
                except StepError as error:
                    tries, tool = 1, self.tool(use.name)
                    # A call that can't be repeated could act twice.
                    if tool is not None and tool.is_repeatable and error.passing:
                        tries = 1 + (step.on_error.retries if step.on_error is not None else 0)
                        tries = max(tries, MOST_SILENT) if error.code in _SILENT else tries
                    if attempt >= tries:
                        raise
                    self.tell("progress", step, f"{error.message} Trying again.")
                else:
                    return data
        except InsteadError as instead:
            if step.for_each is None:
                self._hold(step, instead.words, passing=True)
            return instead.words
        raise AssertionError("counting does not end")

    async def choose(self, step: Step, value: Any) -> Any:
        """Return the value of Choose, or what Or else gives where there is none."""
        expression, way = step.choose, step.or_else
        assert expression is not None
        value = await self.compute(f"{self.key(step)}:choose", expression)
        if value is not None or (way is None and step.if_empty is not None):
            return value
        if way is None:
            message = f"`{expression.cel}` chose nothing, and there is no Or else"
            raise StepError("no_value", message)
        return self.evaluate(way.choose) if way.choose is not None else self._jump(way)

    async def end(self, step: Step, value: Any) -> End:
        """End the skill: by Stop without success, by Return with its data."""
        del value
        if step.stop is not None:
            return End.stop(self.text(step.stop))
        message = "" if step.message is None else self.text(step.message)
        returned = step.returns or ()
        data = {a.name: value_of(a.value, _ANYTHING, self.evaluate) for a in returned}
        return End(success=True, message=message, data=data)

    async def save(self, step: Step, value: Any) -> Any:
        """Save a value under its name."""
        assert step.save_as is not None
        self.names[step.save_as] = value
        return value

    async def branch(self, step: Step, value: Any) -> Any:
        """Go the way of If empty for null, or for text, a list or an object without content."""
        empty = value is None or (isinstance(value, (str, list, dict)) and not value)
        jump = self._jump(step.if_empty) if empty and step.if_empty is not None else None
        return value if jump is None else jump

    async def check(self, step: Step, value: Any) -> Any:
        """Evaluate Check on a value; `use` does so for its call, because it can retry the call."""
        if step.use is None or step.for_each is not None:
            self._hold(step, value, passing=False)
        return value

    def fail(self, step: Step, error: StepError) -> Jump:
        """Return where a failed step leads: On error's way, or the end."""
        self.tell("failed", step, error.message)
        message = sentence(f"Step {self.key(step)} ({step.title}) failed: {error.message}")
        if step.on_error is None:
            return End.stop(message, error.code, f"{error.code}: {error.message}")
        jump = self._jump(step.on_error.then)
        if jump is None:
            self.failures.append((step.title, message))
        return jump

    def decline(self, step: Step, declined: DeclinedError) -> Jump:
        """Return where a declined question leads: If no's way, or the end."""
        self.tell("failed", step, "no answer in time" if declined.late else "declined")
        if step.if_no is not None:
            return self._jump(step.if_no)
        reason = "Nobody answered in time" if declined.late else "Declined"
        return End.stop(f"{reason}: {step.title}.", "refused")

    async def roll_back(self) -> list[str]:
        """Run the bound compensations in reverse; return a sentence for each failure.

        A failure does not prevent the others from running. Effects without Undo stay in `undos`.
        """
        left, undos = [], [*self.undos]
        self.undos[:] = [one for one in undos if not one.tool]
        for undo in reversed(undos):
            if not undo.tool:
                continue
            try:
                await undo.run.undo(undo)
            except (StepError, DeclinedError) as error:
                reason = error.message if isinstance(error, StepError) else "it was declined"
                left.append(sentence(f"Not undone: step {undo.key} ({undo.step.title}): {reason}"))
                undo.run.tell("kept", undo.step, left[-1])
            else:
                undo.run.tell("undone", undo.step, undo.tool)
        return left

    def report_staying(self) -> list[str]:
        """Report the effects that stay as their steps have no Undo; return a sentence for each."""
        places: dict[tuple[str, str], list[Undo]] = {}
        for one in self.undos:
            places.setdefault((f"{one.run.prefix}{one.step.id}", one.step.title), []).append(one)
        stays = []
        for (place, title), undos in places.items():
            count = f" took effect {len(undos)} times and" if len(undos) > 1 else ""
            stays.append(f"Not undone: step {place} ({title}){count} has no Undo.")
            undos[-1].run.tell("kept", undos[-1].step, stays[-1])
        return stays

    async def undo(self, undo: Undo) -> None:
        """Call the compensating tool or skill; its own effects are not undone in turn."""
        key = f"{undo.key}{UNDOING}{undo.tool}"
        call = ToolCall(self.within({}), undo.step, undo.tool, undo.arguments, key, key)
        with suppress(InsteadError):  # A person undid the step by hand.
            await call.once(approved=False)

    # What the methods use: keys, records, calls.

    def key(self, step: Step) -> str:
        """Return a step's key in the record."""
        return f"{self.prefix}{step.id}{self.item}"

    def perform(
        self, key: str, effect: Effect, uncertain: UncertainOutcome | None = None
    ) -> Awaitable[Any]:
        """Do a thing once, as `Journal.perform` does; compensations run even when cancelled."""
        return self.journal.perform(key, effect, undoing=UNDOING in key, uncertain=uncertain)

    async def compute(self, key: str, expression: Expression) -> Any:
        """Evaluate an expression once: the order of an object's keys may differ the next time."""

        async def effect() -> Any:
            return self.evaluate(expression)

        return await self.perform(key, effect)

    def within(self, names: Mapping[str, Any], item: str = "") -> "Run":
        """Return the same run with additional names, for one item of a loop."""
        return replace(self, names={**self.names, **names}, item=item, undos=[])

    def call(self, name: str, arguments: Mapping[str, Any], key: str) -> Call:
        """Build a call with the run's own idempotency key."""
        key, order = f"{self.order.id}/{key}", self.order
        return Call(name, arguments, key, order.confidence, self.caller, key=key, depth=self.depth)

    def _jump(self, way: Way) -> Jump:
        """Return the jump of a way; an error in its text must not hide that the skill stops."""
        if way.kind == "go":
            return Go(way.target)
        if way.kind != "stop":
            return None
        try:
            return End.stop("Stopped." if way.text is None else self.text(way.text))
        except StepError as error:
            return End.stop(sentence(f"Stopped; {error.message}"))

    def _with(self, step: Step, value: Any) -> "Run":
        return self.within({step.save_as: value} if step.save_as else {}, self.item)

    def _hold(self, step: Step, value: Any, *, passing: bool) -> None:
        """Raise StepError where Check does not hold for a value."""
        if step.check is not None and not self._with(step, value).holds(step.check):
            message = f"the check `{step.check.cel}` does not hold"
            raise StepError("check_failed", message, passing=passing)

    def _bind_undo(self, step: Step, use: Use, value: Any) -> None:
        """Bind the compensation of a step, replacing those bound for it or within it."""
        key, run = self.key(step), self._with(step, value)
        try:
            undo = Undo(key, step, use.name, run.bind_arguments(use), run)
        except StepError as error:
            if error.code == "not_required":
                raise
            message = f"it was done, but can't be undone later: {error.message}"
            raise StepError(error.code, message) from None
        place = f"{key}:"
        self.undos[:] = [u for u in self.undos if u.key != key and not u.key.startswith(place)]
        self.undos.append(undo)

    # What people see of it: questions and events.

    def question(self, step: Step, key: str, prompt: str, **parts: Any) -> Question:
        """Build a question of a step without Sensitive values; `parts` are further fields."""
        asked = Question(self.order.id, key, self.spec.name, step.title, prompt, **parts)
        if asked.tool is not None and asked.arguments is not None:
            asked = asked._replace(arguments=self.hide_arguments(asked.tool, asked.arguments))
        return asked if self.secrets is None else asked._replace(prompt=self.secrets.hide(prompt))

    async def answer(self, step: Step, asked: Question) -> Answer:
        """Return an approval; a no or silence raises DeclinedError, a text answer InsteadError."""
        answer = await self.journal.answer(asked)
        if not answer.approved:
            raise DeclinedError(late=answer.late, by=answer.by)
        if asked.tool is not None and answer.text is not None:
            self.tell("progress", step, f"answered: {asked.tool} does not run")
            raise InsteadError(answer.text, answer.by)
        self.tell("progress", step, "approved")
        return answer

    def tell(self, kind: RunKind, step: Step, text: str = "") -> None:
        """Report an event of a step to the run's listeners."""
        shown = text if self.secrets is None else self.secrets.hide(text)
        event = RunEvent(self.order.id, kind, self.spec.name, self.key(step), step.title, shown)
        self.journal.tell(event)


@dataclass(slots=True)
class ToolCall:
    """One recorded call of a tool or a skill."""

    run: Run
    step: Step
    tool: str
    arguments: dict[str, Any]
    key: str
    """Its key in the record."""
    name: str
    """Its name for the idempotency key: the same for each try."""
    by: str | None = None
    """The person who agreed to the call, where their name is known."""
    answer: dict[str, Any] | None = None
    """The values for what its server asked for."""

    async def once(self, *, approved: bool) -> Any:
        """Return the data, or raise StepError, DeclinedError or InsteadError.

        With `approved`, a person has approved exactly these arguments, which confirms the call at
        once. It does not approve a review, which has its own question for another person.
        """
        run = self.run
        if run.secrets is not None:
            run.secrets.learn(self.arguments, run.parameters(self.tool))
        if self.tool in run.order.plan.skills:
            return await self._skill()
        key, send, number, confirmed, reviewed = self.key, self._call, 0, False, False
        while True:
            uncertain = self._uncertain(key)
            effect = partial(self._send, key, send)
            try:
                record = await run.perform(key, effect, uncertain)
            except CancelledRunError:
                if uncertain is not None and run.journal.has_begun(key):
                    where = f"step {key.partition(f':{self.tool}')[0]} ({self.step.title})"
                    doubt = f"{self.tool} may have taken effect, and is not undone"
                    run.doubts.append(sentence(f"Not known: {where}: {doubt}"))
                raise
            done = Outcome.from_json(record)
            if confirmed:
                # A yes can arrive after the confirmation expired; it then approves the new one.
                approved = done.code in _LAPSED or self._was_used(done.code)
                confirmed = False
                if approved:
                    key, send = f"{self.key}:again{number - 1}", self._call
                    continue
            if done.outcome not in _HELD or done.held is None or number == MAX_PROMPTS:
                break
            review = done.outcome == "review"
            # The step's Ask is no answer to what a server asks for.
            if not approved or (review and not reviewed) or done.held.form is not None:
                await self._agree(done.held, number, review=review)
                reviewed = review
            key, send = f"{self.key}:confirm{number}", partial(self._confirm, done.held)
            number, confirmed = number + 1, True
        if done.outcome != "ok":
            raise done.failure(self.tool)
        tool = run.tool(self.tool)
        if run.secrets is not None and tool is not None:
            run.secrets.learn_result(done.data, tool.returns)
        if tool is None or not tool.read_only:
            self._stay()
        return done.data

    def _stay(self) -> None:
        """Bind the effect of the call as one that stays, until an Undo of its step replaces it."""
        run = self.run
        run.undos.append(Undo(run.key(self.step), self.step, "", {}, run))

    async def _skill(self) -> Any:
        """Run a skill and return its data; the Python of a skill undoes its own steps."""
        run, plan = self.run, self.run.order.plan
        inner = replace(
            run, spec=plan.skills[self.tool], names=self.arguments, prefix=f"{self.key}/", item="",
            depth=run.depth + 1, undos=[],
        )  # fmt: skip
        in_python = run.spec.name in plan.python
        result = await run.run_skill(inner, None if in_python else run)
        if in_python and inner.undos:
            self._stay()
        if not result.success:
            raise StepError(result.code or "skill_failed", result.message)
        return result.data

    def _call(self) -> Awaitable[Result]:
        return self.run.executor.call(self.run.call(self.tool, self.arguments, self.name))

    async def _send(self, key: str, send: Callable[[], Awaitable[Result]]) -> dict[str, Any]:
        """Return the result as JSON; a call that never started is sent again, if the run may wait.

        The step's Timeout is for each call, and not for that wait. Any other error on the way is a
        failure, so that earlier steps are undone.
        """
        for tried in itertools.count():
            limit = asyncio.timeout(self.step.timeout_s)
            try:
                async with limit:
                    result = await send()
            except Exception as error:  # noqa: BLE001 - as above
                if limit.expired():
                    tool = self.run.tool(self.tool)
                    return Outcome.late(tool, self.tool, self.step.timeout_s).to_json()
                return Outcome.broken(self.tool, error).to_json()
            if not never_started(result) or not await self.run.journal.wait(key, tried):
                return Outcome.of(result).to_json()
        raise AssertionError("counting does not end")

    async def _agree(self, held: Confirmation, number: int, *, review: bool) -> None:
        """Ask for approval and take over what the person edits, or reject the confirmation.

        Raises StepError where several people must approve the call.
        """
        run, form, parts = self.run, held.form, dict[str, Any](timeout_s=self.step.timeout_s)
        if len(held.approvals) > 1:
            await self._reject(held, number, None)
            message = "several people must approve it, which a run can't ask: call it outside of it"
            raise StepError("approval_required", f"{self.tool}: {message}")
        if review:
            parts |= {"kind": "review"} if not held.approvals else self._approval(held)
        shown = self.arguments if form is None else Asked("", form).defaults
        question = run.question(
            self.step, f"{self.key}:ask{number}", held.prompt, tool=self.tool, arguments=shown,
            sensitivity=held.sensitivity, form=None if form is None else dict(form), **parts,
        )  # fmt: skip
        try:
            answer = await run.answer(self.step, question)
        except (DeclinedError, InsteadError, CancelledRunError) as no:
            await self._reject(held, number, getattr(no, "by", None))
            raise
        self.by = answer.by
        if form is not None:
            self.answer = answer.arguments or {}
        else:
            self.arguments = {**self.arguments, **(answer.arguments or {})}

    def _approval(self, held: Confirmation) -> dict[str, Any]:
        """Return until when the call waits and who approves it, as fields of its question."""
        (one,), began = held.approvals, self.run.journal.now().timestamp()
        escalate = [(at - began, roles) for at, roles in one.escalate]
        assert held.expires is not None
        return self.run.approval(one.by, escalate, held.expires - began, self.arguments)

    async def _reject(self, held: Confirmation, number: int, by: str | None) -> None:
        run = self.run

        async def reject() -> bool:
            await run.executor.reject(held.id, run.call(self.tool, {}, self.name), by)
            return True

        await run.journal.perform(f"{self.key}:reject{number}", reject, undoing=True)

    async def _confirm(self, held: Confirmation) -> Result:
        """Approve the confirmation; an approval from before a crash still counts.

        One entry of the record covers all of it, so a call that repeatedly kills its process makes
        no visible progress.
        """
        given = self.arguments if held.form is None else self.answer or {}
        executor, call = self.run.executor, self.run.call(self.tool, given, self.name)
        result = await executor.confirm(held.id, call, self.by)
        if result.error is None or not self._was_used(result.error.code):
            return result
        renewed = await executor.call(call)
        if renewed.outcome != "confirm" or renewed.confirmation is None:
            return renewed
        return await executor.confirm(renewed.confirmation.id, call, self.by)

    def _was_used(self, code: str) -> bool:
        """Return whether a confirmation was used for a call that may be sent again."""
        tool = self.run.tool(self.tool)
        return code == "confirmation_used" and tool is not None and tool.is_repeatable

    def _uncertain(self, key: str) -> UncertainOutcome | None:
        """Return the question if a process dies during this call; None for a repeatable call."""
        run, tool = self.run, self.run.tool(self.tool)
        if tool is None or tool.is_repeatable:
            return None
        question = run.question(
            self.step, key, "", tool=self.tool, arguments=self.arguments, sensitivity="high",
            saves=None if UNDOING in key else run.reads_result(self.step),
        )  # fmt: skip
        return uncertain(question)


class _Loop:
    """The items of a step with For each: in order, a few at once.

    Items that fail or are declined and continue are left out. When an item jumps, or the run is
    cancelled, items that began finish and no other begins; the first one in order decides.
    """

    def __init__(self, run: Run, step: Step, items: list[Any]) -> None:
        self._run = run
        self._step = step
        self._items = items
        self._next = 0
        self._results: dict[int, Any] = {}
        self._undos: dict[int, list[Undo]] = {}
        self._parked: list[ParkedError] = []
        self._cancelled = False
        self._halted = False

    async def run(self) -> list[Any] | Go | End:
        """Return the results, or the jump of an item."""
        assert self._step.for_each is not None
        workers = min(max(self._step.for_each.at_once, 1), MAX_AT_ONCE, max(len(self._items), 1))
        tasks = [asyncio.ensure_future(self._worker()) for _ in range(workers)]
        try:
            await asyncio.gather(*tasks)
        finally:
            # An engine error ends the run here, so no item may continue in the background.
            for task in tasks:
                task.cancel()
        for index in sorted(self._undos):
            self._run.undos.extend(self._undos[index])
        if self._cancelled:
            raise CancelledRunError
        if self._parked and not self._halted:
            raise ParkedError(*(q for parked in self._parked for q in parked.questions))
        ordered = [value for _, value in sorted(self._results.items()) if value is not _LEFT_OUT]
        jumps = (value for value in ordered if isinstance(value, (Go, End)))
        return next(jumps, ordered)

    def _key(self, index: int) -> str:
        return f"{self._run.key(self._step)}[{index}]"

    async def _worker(self) -> None:
        while self._next < len(self._items):
            index = self._next
            self._next += 1
            # An item that an earlier attempt began may have an effect to undo.
            stops = self._halted or self._cancelled
            if stops and not self._run.journal.has_begun(self._key(index)):
                continue
            try:
                self._results[index] = value = await self._item(index)
            except ParkedError as parked:
                # A parked item occupies its worker: with At Once 1 the next must not begin first.
                self._parked.append(parked)
                return
            except CancelledRunError:
                self._cancelled = True
                continue
            if isinstance(value, (Go, End)):
                self._halted = True

    async def _item(self, index: int) -> Any:
        step, value = self._step, None
        assert step.for_each is not None
        run = self._run.within({step.for_each.name: self._items[index]}, f"[{index}]")
        try:
            for method in step.item_methods:
                value = await getattr(run, method)(step, value)
        except DeclinedError as declined:
            jump = run.decline(step, declined)
        except StepError as error:
            jump = run.fail(step, error)
        else:
            return value
        finally:
            self._undos[index] = run.undos
        return _LEFT_OUT if jump is None else jump._replace(item=self._key(index))
