"""What the steps of a run read: names and expressions, and the arguments of their calls."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from pydantic import BaseModel

from toolmd._expressions import (
    CALLER,
    EvaluationError,
    ExpressionError,
    Program,
    compile_expression,
)
from toolmd._skills.call import StepError
from toolmd._skills.journal import Executor, Journal
from toolmd._skills.text import MISSING, ValueTextError, as_text, text_of, value_of
from toolmd._types.call import Caller
from toolmd._types.identity import caller_values
from toolmd._types.run import Order
from toolmd._types.schema import Parameter
from toolmd._types.skill import Argument, Expression, SkillSpec, Step, Template, Use
from toolmd._types.tool import ToolSpec
from toolmd._types.visible import call_text, value_text
from toolmd._validation.redact import Secrets, redacted


@dataclass(frozen=True, slots=True)
class RunNames:
    """The names of one skill as it runs, and what is read by them."""

    spec: SkillSpec
    order: Order
    journal: Journal
    executor: Executor
    caller: Caller
    names: dict[str, Any]
    """Inputs and saved results; a missing name has no value."""
    _: KW_ONLY
    secrets: Secrets | None = None
    """The Sensitive values that the run has met so far; None where it can meet none."""

    def tool(self, name: str) -> ToolSpec | None:
        """Return a tool of the plan."""
        return self.order.plan.tools.get(name)

    def callee(self, name: str) -> ToolSpec | SkillSpec | None:
        """Return a tool or skill of the plan."""
        return self.tool(name) or self.order.plan.skills.get(name)

    def parameters(self, name: str) -> tuple[Parameter, ...]:
        """Return the parameters of a tool or skill of the plan; empty for an unknown name."""
        spec = self.callee(name)
        return () if spec is None else spec.parameters

    def evaluate(self, expression: Expression) -> Any:
        """Return the value of an expression, or raise StepError."""
        try:
            program = self._program(expression)
            own = {CALLER: caller_values(self.caller)} if program.facts else {}
            return program.evaluate({**own, **self.names}, now=self.journal.now())
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

    def question_text(self, template: Template, use: Use | None, arguments: dict[str, Any]) -> str:
        """Return the text of an Ask, and below it the call that a yes approves, if any."""
        asked = text_of(template, self.evaluate, self._write)
        if use is None:
            return asked
        spec, shown = self.tool(use.name), self.hide_arguments(use.name, arguments)
        parameters = self.parameters(use.name)
        lists = {one.name for one in parameters if one.shape.types == ("array",)}
        critical = spec is not None and spec.safety.sensitivity == "critical"
        return f"{asked} {call_text(use.name, shown, lists, critical=critical)}"

    def _write(self, value: Any) -> str:
        # Sensitive texts are found as they are, and not as a question shows them.
        shown = value if self.secrets is None else self.secrets.hide_in(value)
        return value_text(shown) if isinstance(shown, str | list | dict) else as_text(shown)

    def hide_arguments(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call without Sensitive values."""
        if (secrets := self.secrets) is None:
            return arguments
        parameters = self.parameters(name)
        secrets.learn(arguments, parameters)
        hidden: dict[str, Any] = secrets.hide_in(redacted(arguments, parameters))
        return hidden

    def approval(
        self,
        by: Sequence[str] | str,
        escalate: Sequence[tuple[float, Sequence[str]]],
        expires_s: float,
        values: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Return who answers instead of the caller, and until when, as fields of a question.

        `values` are those that an expression in `by` may read, besides the caller's facts.
        """
        later = [(after_s, list(roles)) for after_s, roles in escalate] or None
        said = {"kind": "review", "timeout_s": expires_s, "escalate": later}
        if not isinstance(by, str):
            return {**said, "by": list(by)}
        read = compile_expression(by, values).names & values.keys()
        reads = {**{name: values[name] for name in read}, CALLER: dict(self.caller.context)}
        return {**said, "by": by, "reads": reads}

    def require(self, name: str) -> None:
        """Raise StepError where the skill's lists do not name the tool or skill."""
        if name not in self.spec.required_tools and name not in self.spec.required_skills:
            message = f"{self.spec.name} does not list {name} among its Required Tools or Skills"
            raise StepError("not_required", message)

    def bind_arguments(self, use: Use) -> dict[str, Any]:
        """Return the arguments of a listed call; an optional one without a value is left out."""
        self.require(use.name)
        if (spec := self.callee(use.name)) is None:
            raise StepError("unknown_tool", f"there is no tool or skill {use.name}")
        known = {parameter.name: parameter for parameter in spec.parameters}
        bound = {}
        for argument in use.arguments:
            if (parameter := known.get(argument.name)) is None:
                message = f"there is no parameter '{argument.name}'"
                raise StepError("invalid_arguments", message)
            value = self._argument(argument, parameter)
            if value is not MISSING:
                bound[argument.name] = value
        if self.secrets is not None:
            self.secrets.learn(bound, spec.parameters)
        return bound

    def _argument(self, argument: Argument, parameter: Parameter) -> Any:
        """Return the value; an optional argument that is only a name may have none."""
        value, optional, types = argument.value, not parameter.required, parameter.shape.types
        only = value.expression if optional and isinstance(value, Template) else None
        named = only is not None and only.cel.isidentifier()
        if only is not None and named and self._program(only).names.isdisjoint(self.names):
            return MISSING
        try:
            given = value_of(value, parameter.shape, self.evaluate)
        except ValueTextError as error:
            raise StepError("invalid_arguments", f"{argument.name}: {error}") from None
        return MISSING if given is None and optional and types and "null" not in types else given

    def reads_result(self, step: Step) -> str | None:
        """Return the name of a step's result, if the skill reads the result; Python may always."""
        if self.spec.name in self.order.plan.python or step.if_empty is not None:
            return step.save_as or "result"
        name = step.save_as
        if name is None:
            return None
        every = _expressions(self.spec.workflow_sections)
        return name if any(name in _names_of(one, name) for one in every) else None

    def _program(self, expression: Expression) -> Program:
        names = [*self.names, *(parameter.name for parameter in self.spec.parameters)]
        return compile_expression(expression.cel, names)


def _expressions(part: Any) -> Iterator[Expression]:
    """Yield every expression within a part of a skill."""
    if isinstance(part, Expression):
        yield part
    elif isinstance(part, BaseModel):
        for name in type(part).model_fields:
            yield from _expressions(getattr(part, name))
    elif isinstance(part, tuple):
        for one in part:
            yield from _expressions(one)


def _names_of(expression: Expression, name: str) -> Collection[str]:
    """Return the names that an expression reads; in doubt, it reads this one."""
    try:
        return compile_expression(expression.cel, [name]).names
    except ExpressionError:
        return (name,)
