"""Check arguments: handles of earlier results, a server's form, errors with a remedy, and Rules."""

import datetime as dt
from collections.abc import Mapping
from typing import Any, Literal

from pydantic_core import from_json

from toolmd._call.denial import CallDenied, deny
from toolmd._expressions import CALLER, EvaluationError, Program, compile_expression
from toolmd._expressions.syntax import pieces
from toolmd._store.store import Store
from toolmd._types.asked import Asked
from toolmd._types.call import Call
from toolmd._types.call_spec import Rule, ToolCallSpec
from toolmd._types.decision import Decision
from toolmd._types.identity import RESERVED
from toolmd._types.result import Failure
from toolmd._types.stored import KeptResult, no_result
from toolmd._types.verdict import Problem
from toolmd._types.visible import value_text
from toolmd._validation import (
    ArgumentsValidator,
    InvalidArgumentsError,
    MalformedError,
    read_object,
)
from toolmd._validation.paths import PathError, select

MAX_TOLD = 3
"""The most errors in the message; the details list all of them."""
_CODE = "invalid_arguments"


def read(call: Call) -> dict[str, Any]:
    """Parse one JSON object within bounds. Raises CallDenied."""
    try:
        return read_object(call.arguments)
    except MalformedError as error:
        raise CallDenied(mismatch(error)) from None


def mismatch(error: MalformedError | InvalidArgumentsError) -> Failure:
    """Return `malformed_call`, or `invalid_arguments` with every error."""
    if isinstance(error, MalformedError):
        return Failure("malformed_call", str(error))
    problems = error.problems
    told = "; ".join([problem.message for problem in problems[:MAX_TOLD]])
    more = f"; and {len(problems) - MAX_TOLD} more" if len(problems) > MAX_TOLD else ""
    return Failure(_CODE, told + more, problems)


def values_for(asked: Asked, decision: Decision) -> dict[str, Any]:
    """Return the values for a server's form: the edited ones, or what a text stands for.

    A text is the JSON of all values, or the value of the only field. Raises CallDenied for values
    that do not fit.
    """
    fields, given = asked.fields, decision.arguments
    form = ArgumentsValidator(fields)
    try:
        if decision.kind == "respond":
            single = len(fields) == 1 and fields[0].shape.types == ("string",)
            given = {fields[0].name: decision.text} if single else form.validate(decision.text)
    except MalformedError:
        names = ", ".join(one.name for one in fields) or "none"
        message = f"The server asks for values, not for a text. Its fields: {names}."
        raise deny("invalid_arguments", message) from None
    except InvalidArgumentsError as error:
        raise CallDenied(mismatch(error)) from None
    try:
        return form.validate({**asked.defaults, **given})
    except (MalformedError, InvalidArgumentsError) as error:
        raise CallDenied(mismatch(error)) from None


HANDLE = "$result"
_KEYS = {HANDLE, "path"}


def has_handle(arguments: Mapping[str, Any] | str | bytes, names: frozenset[str]) -> bool:
    """Return whether an argument among `names` may be a handle, without reading text."""
    if isinstance(arguments, str):
        return HANDLE in arguments
    if isinstance(arguments, bytes):
        return HANDLE.encode() in arguments
    return any(_is_handle(arguments.get(name)) for name in names)


def with_results(call: Call, names: frozenset[str], store: Store, now: float) -> Call:
    """Return a call whose handles are replaced by the parts of the results that they name.

    It blocks. Raises CallDenied where the user has no such result, or it has no such part.

    Args:
        call: The call, as it came.
        names: The parameters that accept handles.
        store: The store that keeps the results.
        now: The time, in seconds since the epoch.
    """
    try:
        given = read_object(call.arguments)
    except MalformedError:
        return call  # The next check explains it.
    kept: dict[str, KeptResult | None] = {}
    for name in names & given.keys():
        value = given[name]
        if not _is_handle(value):
            continue
        handle, path = value[HANDLE], value.get("path")
        if not isinstance(handle, str) or not isinstance(path, str | None) or value.keys() - _KEYS:
            raise deny(
                "invalid_arguments",
                f'{name} is no handle: write {{"$result": "r-…", "path": "papers[*].id"}}.',
            )
        if handle not in kept:
            kept[handle] = store.results.find(handle, call.caller.user, now)
        if (found := kept[handle]) is None:
            raise deny("unknown_handle", no_result(handle))
        try:
            given[name] = select(from_json(found.data), path or "")
        except PathError as error:
            raise deny("unknown_path", f"{name}: {error}.") from None
    return call._replace(arguments=given)


def _is_handle(value: Any) -> bool:
    return isinstance(value, dict) and HANDLE in value


def reads_caller(program: Program) -> bool:
    """Return whether an expression reads the caller or the time."""
    return program.reads_clock or CALLER in program.names


class Rules:
    """The compiled Rules of one tool that read one kind of things.

    A rule over a Given, the caller or the time is a permission: no other argument would help.
    """

    def __init__(
        self, call_spec: ToolCallSpec, over: Literal["arguments", "caller", "given"] = "arguments"
    ) -> None:
        """Compile the rules. Raises ExpressionError: the tool can't be called then."""
        names = frozenset(parameter.name for parameter in call_spec.parameters)
        self._given = frozenset(one.name for one in call_spec.given)
        rules = [(compile_expression(r.expression, names), r) for r in call_spec.rules]
        self._rules = [one for one in rules if self._kind(one[0]) == over]
        self._code = _CODE if over == "arguments" else "not_allowed"

    def _kind(self, program: Program) -> str:
        if self._given & program.names:
            return "given"
        return "caller" if reads_caller(program) else "arguments"

    def __bool__(self) -> bool:
        return bool(self._rules)

    def check(self, values: Mapping[str, Any], now: dt.datetime | None = None) -> None:
        """Raise CallDenied with each rule that is false or can't be computed.

        An exception in a rule goes on: the call is denied as well.
        """
        broken = [one for p, r in self._rules if (one := self._fault(p, r, values, now))]
        if broken:
            message = " ".join(problem.message for problem in broken)
            raise deny(self._code, message, tuple(broken))

    def _fault(
        self, program: Program, rule: Rule, values: Mapping[str, Any], now: dt.datetime | None
    ) -> Problem | None:
        try:
            answer = program.evaluate(values, now=now)
        except EvaluationError:
            # The reason may quote a Sensitive value, so only absent names are named.
            absent = ", ".join(f"`{name}`" for name in sorted(program.names - values.keys()))
            why = f"it needs {absent}" if absent else "it has no value for these arguments"
            if lacking := sorted(program.facts - values.get(CALLER, {}).keys()):
                named = [name if name in RESERVED else f"fact '{name}'" for name in lacking]
                why = f"the caller has no {', no '.join(named)}"
            message = f"{rule.message} (It could not be evaluated: {why}.)"
            return Problem("rule_not_computable", "", message, rule.expression)
        if not isinstance(answer, bool):
            raise TypeError(f"`{rule.expression}` gave no boolean")
        if answer:
            return None
        return Problem("rule_broken", "", self._message(rule, values), rule.expression)

    def _message(self, rule: Rule, values: Mapping[str, Any]) -> str:
        """Return the message with the values of a Given in it, such as `{order.status}`."""
        told = []
        for piece, is_code in pieces(rule.message) if self._given else ((rule.message, False),):
            if is_code and piece.partition(".")[0] in self._given:
                try:
                    told.append(value_text(compile_expression(piece).evaluate(values)))
                except EvaluationError:
                    told.append("nothing")
            else:
                told.append(f"{{{piece}}}" if is_code else piece)
        return "".join(told)
