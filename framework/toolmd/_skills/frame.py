"""One skill within a run: its names, values, compensations, and keys in the record."""

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from toolmd._expressions import EvaluationError, ExpressionError, Program, compile_expression
from toolmd._skills.journal import Effect, Executor, Journal, UncertainOutcome
from toolmd._skills.text import MISSING, ValueTextError, text_of, value_of
from toolmd._types.call import Call, Caller
from toolmd._types.run import UNDOING, Order, RunEvent, RunKind
from toolmd._types.schema import Parameter
from toolmd._types.skill import Argument, Expression, SkillSpec, Step, Template
from toolmd._validation.redact import Secrets

MAX_SKILL_DEPTH = 8
"""How deep skills may be nested."""


class StepError(Exception):
    """A step failed; the code is stable, the message is for people."""

    def __init__(self, code: str, message: str, *, passing: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.passing = passing
        """Whether trying again may help."""


class DeclinedError(Exception):
    """A person declined, or nobody answered in time."""

    def __init__(self, *, late: bool, by: str | None = None) -> None:
        super().__init__("late" if late else "refused")
        self.late = late
        self.by = by
        """The person who declined, where their name is known."""


class ItemError(Exception):
    """An item of a loop failed or was declined, and its jump applies to the whole step."""

    def __init__(self, jump: "Go | End", key: str) -> None:
        super().__init__(key)
        self.jump = jump
        self.key = key
        """The item's own key."""


class InsteadError(Exception):
    """A person answered in place of a call: it does not run, and their text is its result."""

    def __init__(self, words: str, by: str | None = None) -> None:
        super().__init__("answered")
        self.words = words
        self.by = by
        """The person who answered, where their name is known."""


class Go(NamedTuple):
    """Continue in another section."""

    target: str


class End(NamedTuple):
    """The end of the skill."""

    success: bool
    message: str = ""
    data: Mapping[str, Any] = {}
    error: str | None = None
    code: str = ""


Jump = Go | End | None
"""Where a step leads; None is the next step."""


class Undo(NamedTuple):
    """A compensating call, bound when its step succeeded."""

    key: str
    step: Step
    tool: str
    arguments: dict[str, Any]
    frame: "Frame"
    """The skill whose step it undoes; it may have ended within another skill."""


class StepFailure(NamedTuple):
    """A step that failed, although the skill continued."""

    title: str
    note: str
    """Which step failed, and why."""


@dataclass(frozen=True, slots=True)
class Frame:
    """State that the steps of one skill share."""

    spec: SkillSpec
    order: Order
    journal: Journal
    executor: Executor
    caller: Caller
    names: dict[str, Any]
    """Inputs and saved results; a missing name has no value."""
    prefix: str = ""
    """The start of each key: empty, or `2:visit/` within a skill that step 2 uses."""
    depth: int = 0
    undos: list[Undo] = field(default_factory=list)
    secrets: Secrets = field(default_factory=Secrets)
    """The Sensitive values that the run has met so far."""
    failures: list["StepFailure"] = field(default_factory=list)
    """The steps of the run that failed and continued."""
    doubts: list[str] = field(default_factory=list)
    """Sentences on calls of a cancelled run that began, and whose outcome is not known."""

    def parameters_of(self, name: str) -> tuple[Parameter, ...]:
        """Return the parameters of a tool or skill of the plan; empty for an unknown name."""
        spec = self.order.plan.tools.get(name) or self.order.plan.skills.get(name)
        return () if spec is None else spec.parameters

    def within(self, names: Mapping[str, Any]) -> "Frame":
        """Return the same frame with additional names, for one item of a loop."""
        return replace(self, names={**self.names, **names}, undos=[])

    def bind(self, undo: Undo) -> None:
        """Record the compensation of a step, replacing those bound for it or within it."""
        place = f"{undo.key}:"
        self.undos[:] = [u for u in self.undos if u.key != undo.key and not u.key.startswith(place)]
        self.undos.append(undo)

    def key(self, step: Step, index: int | None = None) -> str:
        """Return a step's key in the record; `[3]` is the loop's fourth item."""
        return f"{self.prefix}{step.id}" + ("" if index is None else f"[{index}]")

    def perform(
        self, key: str, effect: Effect, uncertain: UncertainOutcome | None = None
    ) -> Awaitable[Any]:
        """Do a thing once, as `Journal.perform` does; compensations run even when cancelled."""
        return self.journal.perform(key, effect, undoing=UNDOING in key, uncertain=uncertain)

    def evaluate(self, expression: Expression) -> Any:
        """Return the value of an expression, or raise StepError."""
        try:
            return self._program(expression).evaluate(self.names, now=self.journal.now())
        except (ExpressionError, EvaluationError) as error:
            message = f"`{expression.cel}` has no value: {error}"
            raise StepError("expression_failed", message) from None

    def holds(self, expression: Expression) -> bool:
        """Return whether a condition is true; a value that is not a boolean is a StepError."""
        value = self.evaluate(expression)
        if not isinstance(value, bool):
            raise StepError("expression_failed", f"`{expression.cel}` is neither true nor false")
        return value

    def text(self, template: Template) -> str:
        """Return a template's text."""
        return text_of(template, self.evaluate)

    def arguments(
        self, written: tuple[Argument, ...], parameters: tuple[Parameter, ...]
    ) -> dict[str, Any]:
        """Return the arguments of a call; an optional one without a value is left out."""
        known = {parameter.name: parameter for parameter in parameters}
        made = {}
        for argument in written:
            parameter = known.get(argument.name)
            if parameter is None:
                message = f"there is no parameter '{argument.name}'"
                raise StepError("invalid_arguments", message)
            value = self._argument(argument, parameter)
            if value is not MISSING:
                made[argument.name] = value
        return made

    def _argument(self, argument: Argument, parameter: Parameter) -> Any:
        optional = not parameter.required
        if optional and self._is_absent(argument):
            return MISSING
        try:
            value = value_of(argument.value, parameter.shape, self.evaluate)
        except ValueTextError as error:
            raise StepError("invalid_arguments", f"{argument.name}: {error}") from None
        types = parameter.shape.types
        return MISSING if value is None and optional and types and "null" not in types else value

    def _is_absent(self, argument: Argument) -> bool:
        """Return whether the argument is only a name, and that name has no value."""
        value = argument.value
        expression = value.expression if isinstance(value, Template) else None
        return (
            expression is not None
            and expression.cel.isidentifier()
            and self._program(expression).names.isdisjoint(self.names)
        )

    def _program(self, expression: Expression) -> Program:
        names = [*self.names, *(parameter.name for parameter in self.spec.parameters)]
        return compile_expression(expression.cel, names, functions=True)

    def call(self, name: str, arguments: Mapping[str, Any], key: str) -> Call:
        """Build the call with the run's own idempotency key."""
        whole = f"{self.order.id}/{key}"
        return Call(
            name, arguments, whole, self.order.confidence, self.caller, key=whole, depth=self.depth
        )

    def tell(self, kind: RunKind, step: Step, text: str = "", index: int | None = None) -> None:
        """Report an event of a step to the run's listeners."""
        event = RunEvent(
            self.order.id, kind, self.spec.name, self.key(step, index), step.title,
            self.secrets.hide(text),
        )  # fmt: skip
        self.journal.tell(event)
