"""Check what a tool's conditions read of the tools of its Given, once all tools are known."""

import re
from collections.abc import Iterator, Mapping

from toolmd._expressions import Checker, ExpressionError
from toolmd._expressions.syntax import pieces
from toolmd._skills.scope import Scope, StepFindings
from toolmd._types.approval import ALWAYS
from toolmd._types.call_spec import Given
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.identity import ANYBODY, Identity
from toolmd._types.schema import Schema
from toolmd._types.skill import Argument, Expression, Template
from toolmd._types.tool import ToolSpec
from toolmd.errors import did_you_mean

_PATH = re.compile(r"(\w+)\.(\w+)(?:\.\w+)*")
_BOOLEAN, _KEY = ("boolean",), ("string", "integer")


def check_given(
    spec: ToolSpec, tools: Mapping[str, ToolSpec], identity: Identity | None, text: str
) -> tuple[Diagnostic, ...]:
    """Return what keeps a tool's Given from being read, and what its conditions misread of it.

    Args:
        spec: The tool.
        tools: All tools of the project.
        identity: The facts and roles that the settings know; None checks none of them.
        text: The tool's file, in which findings are placed.
    """
    caller = ANYBODY if identity is None else identity.shape(spec.requires_context)
    found = StepFindings(spec.source, caller)
    scope = Scope.of(spec.parameters, found)
    for one in spec.given:
        called = tools.get(one.tool)
        why = _no_lookup(called) if called is not None else "the project has no such tool"
        if called is None or why:
            code = Code.INVALID_GIVEN if called is not None else Code.UNKNOWN_TOOL
            hint = "name a Read Only tool without a Given that asks nobody"
            if called is None:
                hint = did_you_mean(one.tool, tools) or hint
            elif not called.read_only:
                hint += f"; if its file says Read Only now, run `toolmd accept {one.tool}`"
            found.report(code, one.line, f"Given reads {one.name} from {one.tool}: {why}", hint)
            continue
        written = [_argument(name, cel, one, text) for name, cel in one.arguments.items()]
        scope.arguments(one.tool, called.parameters, tuple(written), one.line,
                        of="the Given", below="**Given**")  # fmt: skip
    read = {one.name: tools[one.tool].returns for one in spec.given if one.tool in tools}
    if not found.sorted():
        names = {p.name: p.shape for p in spec.parameters} | read
        checker = Checker(names, caller)
        for cel, what, wanted in _conditions(spec):
            _check(found, checker, _expression(cel, text, spec.source.line), what, wanted, read)
        for said in _texts(spec):
            _check_text(found, checker, said, read, text, spec.source.line)
    return found.sorted()


def _no_lookup(tool: ToolSpec) -> str:
    """Return why a tool can't be read by a Given; empty where it can."""
    safety = tool.safety
    if not tool.read_only:
        return "it is not Read Only"
    if tool.given:
        return "it has a Given itself"
    asks = safety.requires_confirmation or safety.confirm_when or safety.sensitivity == "critical"
    return "it waits for a person" if asks or tool.approvals or safety.crisis_when else ""


def _argument(name: str, cel: str, given: Given, text: str) -> Argument:
    value = Template(parts=(_expression(cel, text, given.line),), code=True)
    return Argument(name=name, value=value, line=given.line)


def _expression(cel: str, text: str, line: int) -> Expression:
    """Return an expression with its place: the first in the file behind a line, else that line."""
    for number, one in enumerate(text.splitlines(), 1):
        if number >= line and (at := one.find(cel)) >= 0:
            return Expression(cel=cel, line=number, column=at + 1)
    return Expression(cel=cel, line=line)


def _conditions(spec: ToolSpec) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield each expression that may read a Given, its name, and the types that it may have."""
    yield from ((one.expression, "rule", _BOOLEAN) for one in spec.rules)
    whens = [("Confirm When", spec.safety.confirm_when), ("Crisis When", spec.safety.crisis_when)]
    whens += [("condition of Approval", one.when) for one in spec.approvals if one.when != ALWAYS]
    for quota in spec.limits.quotas:
        whens.append(("condition of Quota", quota.when))
        yield from ((key.strip("` "), "key", _KEY) for key in quota.per if key[0] == "`")
    yield from ((cel, what, _BOOLEAN) for what, cel in whens if cel)


def _texts(spec: ToolSpec) -> Iterator[str]:
    yield from (one.message for one in spec.rules)
    yield from (one.text for one in spec.approvals)
    yield spec.safety.text or ""


def _check(
    found: StepFindings,
    checker: Checker,
    expression: Expression,
    what: str,
    wanted: tuple[str, ...],
    read: Mapping[str, Schema],
) -> None:
    try:
        checked = checker.check(expression.cel)
    except ExpressionError as error:
        found.report_broken(expression, error)
        return
    got = checked.schema.types if checked.schema is not None else ()
    if read.keys() & checked.program.names and got and not set(got) & set(wanted):
        message = f"the {what} `{expression.cel}` gives {got[0]}, not {' or '.join(wanted)}"
        help_ = "compare it, or read a field of it"
        found.report(Code.INVALID_EXPRESSION, expression, message, help_)


def _check_text(
    found: StepFindings,
    checker: Checker,
    said: str,
    read: Mapping[str, Schema],
    text: str,
    line: int,
) -> None:
    """Report what a text would show of a Given that no model may see."""
    for piece in [piece for piece, is_code in pieces(said) if is_code]:
        try:
            names = checker.check(piece).program.names & read.keys()
        except ExpressionError as error:
            if any(piece.startswith(f"{name}.") for name in read):
                found.report_broken(_expression(piece, text, line), error)
            continue
        path = _PATH.fullmatch(piece)
        if names and (path is None or not _is_shown(read[path[1]], path[2])):
            message = f"`{{{piece}}}` would show what a model may not see"
            hint = "write `{NAME.FIELD}` with a field of the tool's To Model that is not Sensitive"
            found.report(Code.INVALID_EXPRESSION, _expression(piece, text, line), message, hint)


def _is_shown(shape: Schema, field: str) -> bool:
    shapes = [one.shape for one in shape.properties or () if one.name == field]
    hides = any(one.holds_sensitive for one in shapes)
    return not hides and (shape.to_model is None or field in shape.to_model)
