"""Parse a tool: read its sections in order, report every problem, raise nothing."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

from toolmd._expressions import (
    CALLER,
    NOW,
    CheckedExpression,
    Checker,
    ExpressionError,
    compile_expression,
)
from toolmd._parse import scalars
from toolmd._parse.blocks import Block, Bullets, Comment, Node, Paragraph, Raw, mark_of, prose
from toolmd._parse.document.approvals import check_text, read_approvals
from toolmd._parse.document.definition import Definition, open_definition
from toolmd._parse.document.examples import read_examples
from toolmd._parse.document.metadata import read_metadata
from toolmd._parse.fields.entries import Fields, name_fields, read_entries
from toolmd._parse.fields.quotas import quota_marks
from toolmd._parse.fields.values import read_values
from toolmd._parse.page import CodePlace, Mark, Page, Places
from toolmd._parse.parameters.schema import read_returns, read_section
from toolmd._parse.words import SEPARATORS, flow, fold, is_slip, says_none
from toolmd._types.approval import either
from toolmd._types.call_spec import ErrorText, Given, Limits, Rule, Safety
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.identity import ANYBODY, Identity
from toolmd._types.quota import EVER, OF_A_ZONE, OWN_KEYS, Quota
from toolmd._types.remote import read_operation
from toolmd._types.schema import Parameter, Schema
from toolmd._types.tool import ToolSpec
from toolmd._types.verdict import DENIALS
from toolmd.errors import did_you_mean

_MODEL_BYTES = 256 << 10
"""The most bytes of a result that a model reads."""
_NO_SAFETY, _NO_LIMITS = Safety(), Limits()
_ESCALATES = frozenset(map(fold, ("Escalate When", "Escalation When")))
_JOINING = frozenset(("", "and", "or", "but", "not", "andnot"))
"""Text that may join two expressions, but never an expression and its message."""
_DENIED = ("is denied", "!has({}) ||")
_WITHOUT = {
    "Confirm When": ("must be confirmed", "has({}) &&"),
    "Crisis When": ("needs a review", "has({}) &&"),
    "condition of Approval": ("needs the approval", "has({}) &&"),
    "condition of Quota": ("is counted", "has({}) &&"),
}
"""The outcome of a call if a condition can't be computed, and the prefix that prevents it."""


def parse_tool(
    text: str,
    path: str | PathLike[str],
    places: Places | None = None,
    *,
    identity: Identity | None = None,
) -> tuple[ToolSpec | None, tuple[Diagnostic, ...]]:
    """Parse the text of a `.tool.md` file (format.md).

    Args:
        text: the content of the file.
        path: the path that the diagnostics name.
        places: receives the names and expressions of the file.
        identity: the facts and roles that the settings know; None checks none of them.

    Returns:
        The spec, or None if any diagnostic is an error; and the diagnostics.
    """
    definition, diagnostics = open_definition(text, path, "tool", places, identity)
    if definition is None:
        return None, diagnostics
    values = read_metadata(definition)
    values["parameters"] = read_section(definition, "Parameters")
    _sent_in(definition, values)
    values["returns"] = read_returns(definition)
    facts = values.get("requires_context", ())
    caller = ANYBODY if identity is None else identity.shape(facts)
    conditions = _Conditions(definition.page, values["parameters"], caller)
    values["given"] = read_given(definition, conditions.check)
    conditions.given, conditions.checker = values["given"], None
    values["rules"] = _rules(definition, conditions)
    values["safety"] = _safety(definition, conditions)
    values["approvals"] = read_approvals(definition, conditions.check, values["parameters"])
    _check_callers(definition, conditions, values)
    is_repeatable = values.get("read_only", False) or values.get("idempotent", "no") != "no"
    values["limits"] = _limits(definition, conditions, facts, is_repeatable=is_repeatable)
    values["errors"] = _errors(definition)
    values["when_to_use"] = definition.when_to_use()
    values["examples"] = read_examples(definition, values["parameters"])
    values["sections"] = definition.keep_prose()
    return definition.finish(ToolSpec, values)


def _sent_in(definition: Definition, values: Mapping[str, Any]) -> None:
    """Report places in a request where no web service implements the tool."""
    named = ", ".join(one.name for one in values["parameters"] if one.shape.sent_in)
    section = definition.section("Parameters")
    if named and section is not None and read_operation(values.get("implemented_by", "")) is None:
        what = f"Sent In of {named} has no effect: no web service implements this tool"
        help_ = "remove it, or write `**Implemented By**: http METHOD PATH` below `## Metadata`"
        definition.page.warn(Code.MISPLACED_FIELD, section.mark, what, help_)


@dataclass(slots=True)
class _Conditions:
    """A checker of the conditions over a tool's arguments; each must return true or false."""

    page: Page
    parameters: tuple[Parameter, ...]
    caller: Schema
    given: tuple[Given, ...] = ()
    """What they may read of other tools; its type is known once all tools are."""
    checker: Checker | None = None

    def check_key(self, mark: Mark, source: str) -> None:
        """Check an expression for which a Quota counts: text or a whole number."""
        checked = self._compile(mark, source, "key")
        found = checked.schema.types if checked is not None and checked.schema is not None else ()
        is_time = checked is not None and checked.shown in ("timestamp", "duration")
        if checked is not None and (is_time or found not in ((), ("string",), ("integer",))):
            shown = checked.shown if is_time else found[0]
            message = f"the key `{source}` is {shown}, not text or a whole number"
            help_ = "count per something else; for calls in a time, write `per user per day`"
            self.page.error(Code.INVALID_EXPRESSION, mark, message, help_)

    def check(
        self,
        mark: Mark,
        source: str,
        what: str,
        *,
        of_approver: bool = False,
        any_type: bool = False,
    ) -> bool:
        """Compile a condition; report it and return False if it can't be enforced.

        With `of_approver`, it may read the person who decides, too; with `any_type`, it is a part
        of a text.
        """
        page = self.page
        checked = self._compile(mark, source, what, of_approver=of_approver)
        if checked is None:
            return False
        if any_type:
            return True
        if checked.schema is not None and checked.schema.types not in ((), ("boolean",)):
            message = f"the {what} `{source}` returns {checked.schema.types[0]}, not true or false"
            page.error(Code.INVALID_EXPRESSION, mark, message, "compare it with something")
            return False
        optional = {p.name for p in self.parameters if not p.required and not p.shape.has_default}
        becomes, prefix = _WITHOUT.get(what, _DENIED)
        for name in sorted(checked.program.unguarded & optional):
            message = f"the {what} reads '{name}', which a call may leave out: that call {becomes}"
            help_ = f"write `{prefix.format(name)} …`, or make '{name}' required"
            page.warn(Code.RULE_MAY_NOT_COMPUTE, mark, message, help_)
        return True

    def _compile(
        self, mark: Mark, source: str, what: str, *, of_approver: bool = False
    ) -> CheckedExpression | None:
        page = self.page
        page.places.expressions.append(CodePlace(source, mark.line, mark.column))
        names = {p.name: p.shape for p in self.parameters}
        if self.checker is None:
            given = {one.name: Schema() for one in self.given}
            self.checker = Checker({**names, **given}, self.caller)
        by = Checker(names, self.caller, of_approver=True) if of_approver else None
        try:
            checked = (by or self.checker).check(source)
        except ExpressionError as error:
            at = mark.at(max(error.column - 1, 0)) if error.column <= len(mark.text) else mark
            page.error(Code.of(error.code), at, f"the {what} `{source}`: {error}", error.help)
            return None
        twice = names.keys() & {one.name for one in self.given}
        for name in sorted(checked.program.names & twice):
            page.error(
                Code.AMBIGUOUS_NAME,
                mark,
                f"the {what} `{source}` reads '{name}', which is the name of a parameter, too",
                "give the parameter another name",
            )
            return None
        return checked


def _check_callers(
    definition: Definition, conditions: _Conditions, values: Mapping[str, Any]
) -> None:
    """Check the defaults from the caller, and hint at rules over callers that surprise."""
    page = definition.page
    names = [p.name for p in values["parameters"]]
    rules = [(one.expression, compile_expression(one.expression, names)) for one in values["rules"]]
    for name, fact in [(p.name, p.shape.from_caller) for p in values["parameters"]]:
        if fact is None:
            continue
        source, variable = f"caller.{fact}", name.replace("-", "_")
        mark = _find_mark(definition, "Parameters", source)
        if conditions.check(mark, source, "Default", any_type=True) and not any(
            fact in program.facts and {name, variable} & program.names for _, program in rules
        ):
            what = f"no rule compares {name} with {source}, so a call may name another's"
            help_ = f"add a rule: `` - `{variable} == {source}`: Only your own. ``"
            page.hint(Code.DEFAULT_WITHOUT_RULE, mark, what, help_)
    for text, program in rules:
        facts = program.facts & {*values.get("requires_context", ())}
        if facts and "||" in text and ".roles" in text:
            fact = min(facts)
            what = f"each caller must have the fact '{fact}', also one with the role of this rule"
            help_ = f"take {fact} out of Requires Context: without it, the rule denies"
            mark = _find_mark(definition, "Rules", text)
            page.hint(Code.FACT_BESIDE_ROLE, mark, what, help_)
    for one in values["approvals"]:
        if one.by == values.get("allowed_roles"):
            what = f"all who may call it may approve it: {either(one.by)}"
            help_ = "it takes two of them; name another role if that is not meant"
            mark = _find_mark(definition, "Approval", one.by[0])
            page.hint(Code.CALLERS_APPROVE, mark, what, help_)


def _find_mark(definition: Definition, section: str, text: str) -> Mark:
    """Return the first place of a text in a section."""
    page, known = definition.page, definition.section(section)
    start = 1 if known is None else known.mark.line
    lines = (n for n, line in enumerate(page.lines, 1) if n >= start and text in line)
    return page.mark(text, next(lines, start))


def _rules(definition: Definition, conditions: _Conditions) -> tuple[Rule, ...]:
    section, page = definition.section("Rules"), definition.page
    if section is None:
        return ()
    rules: list[Rule] = []
    words: list[Block] = []
    below = [block for part in section.parts for block in part.blocks]
    for at, block in enumerate([*section.blocks, *below]):
        own = at < len(section.blocks)
        if own and isinstance(block, Bullets):
            for item in block.items:
                skipped = says_none(item.mark.text) or is_given(item)
                rule = None if skipped else _rule(page, item)
                if rule is None:
                    continue
                mark = page.mark(rule.expression, item.mark.line, item.mark.column)
                if conditions.check(mark, rule.expression, "rule"):
                    rules.append(rule)
        elif (unread := _unread_rule(block)) is not None:
            what = "this is not read as a rule, so nothing would enforce it"
            help_ = "write each rule as a bullet directly below `## Rules`: "
            help_ += "`` - `a < b`: The message if it is false. ``"
            page.error(Code.UNREADABLE_RULE, unread, what, help_)
        elif own and not (isinstance(block, Paragraph) and says_none(block.mark.text)):
            words.append(block)
    definition.document.keep(section, words, section.parts)
    return tuple(rules)


_EXCEPTION = re.compile(r"`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)`\s*:\s+(.+)", re.DOTALL)
_CODE = re.compile(r"([a-z][a-z0-9_]{0,63})\s*:\s+(.+)", re.DOTALL)


def _errors(definition: Definition) -> tuple[ErrorText, ...]:
    """Read `` `Exception`: code: message `` bullets; all else in the section is prose."""
    section = definition.section("Errors")
    if section is None:
        return ()
    found: list[ErrorText] = []
    words: list[Block] = []
    for block in section.blocks:
        items = block.items if isinstance(block, Bullets) else []
        texts = [_EXCEPTION.fullmatch(flow(item.mark.text).strip()) for item in items]
        if not any(texts):
            words.append(block)
            continue
        for item, text in zip(items, texts, strict=True):
            if text is None or item.blocks or text[1] in {one.exception for one in found}:
                what = "this bullet words no exception, or one that is worded above"
                help_ = "write `` - `KeyError`: no_order: There is no such order. ``"
                definition.page.error(Code.UNREADABLE_VALUE, item.mark, what, help_)
                continue
            wording = _CODE.fullmatch(text[2])
            code, message = wording.groups() if wording else ("tool_error", text[2])
            if code in DENIALS:
                what = f"{code} is the code of a denial, and this call has run"
                help_ = "take a code of your own"
                definition.page.error(Code.UNREADABLE_VALUE, item.mark, what, help_)
            found.append(ErrorText(text[1], code, message))
    definition.document.keep(section, words, section.parts)
    return tuple(found)


def _unread_rule(block: Block) -> Mark | None:
    """Return the mark of a block that may be a rule: anything but words and comments."""
    match block:
        case Paragraph() if not block.mark.text.startswith("`"):
            return None
        case Raw() if not block.mark.text.strip("-*_ "):
            return None  # a horizontal rule
        case Comment():
            return None
        case _:
            return mark_of(block)


def _rule(page: Page, item: Node) -> Rule | None:
    """Read `` `expression`: message ``; the expression must be in a code span."""
    text = flow(item.mark.text)
    if text.startswith("**`"):
        text = text[2:].replace("`**", "`", 1)
    ticks = len(text) - len(text.lstrip("`"))
    end = text.find("`" * ticks, ticks) if ticks else -1
    below = [block for block in item.blocks if not isinstance(block, Comment)]
    if end < 0 or not all(isinstance(block, Paragraph) for block in below):
        page.error(
            Code.UNREADABLE_RULE,
            item.mark if item.mark.text else Mark(" ", item.mark.line, 1),
            "this rule has no expression in a code span, so nothing would enforce it",
            "did you mean 'Given'?"
            if is_slip(fold(item.name), "given")
            else "write `` - `systolic > diastolic`: Systolic must be above diastolic. ``",
        )
        return None
    expression = text[ticks:end].strip()
    behind = text[end + ticks :]
    between, another, _ = behind.partition("`")
    if another and fold(between) in _JOINING and not set(between) & set(SEPARATORS):
        what = "this rule has two expressions, and only the first would be enforced"
        help_ = "write a bullet for each, or one expression: `` `a > 0 && b > 0` ``"
        page.error(Code.UNREADABLE_RULE, item.mark, what, help_)
        return None
    words = [behind.lstrip(SEPARATORS + " >→⇒"), *prose(below).split()]
    message = " ".join(word for word in words if word)
    if not message:
        what = "the rule has no message for the model"
        help_ = "write after a colon what is wrong when the rule is false"
        page.hint(Code.MISSING_FIELD, item.mark, what, help_)
    return Rule(expression=expression, message=message or f"{expression} must hold")


def _safety(definition: Definition, conditions: _Conditions) -> Safety:
    read = _read_fields(definition, "Safety")
    if read is None:
        return _NO_SAFETY
    page, fields, values = definition.page, *read
    for attribute in ("confirm_when", "crisis_when"):
        entry = fields.entry(attribute)
        if attribute in values and entry is not None:
            mark = page.mark(values[attribute], entry.value.line, entry.value.column)
            name = fields.known[attribute][0].name
            conditions.check(mark, values[attribute], name)
    if (entry := fields.entry("text")) is not None and "text" in values:
        check_text(page, entry, values["text"], conditions.check, conditions.parameters)
    if (entry := fields.entry("crisis_when")) is not None and fold(entry.name) in _ESCALATES:
        page.hint(
            Code.CRISIS_FLAG,
            entry.key,
            f"{entry.name} is read as Crisis When, which sets the crisis flag",
            "write **Crisis When**; for a colleague's yes write a section `## Approval`",
        )
    explicit, keywords = fields.entry("explicit_intent"), fields.entry("intent_keywords")
    if explicit and values.get("explicit_intent") and keywords is None:
        what = "Explicit Intent needs Intent Keywords: without them every call is denied"
        help_ = "add `- **Intent Keywords**: word, word`"
        page.error(Code.MISSING_FIELD, explicit.key, what, help_)
    if keywords and values.get("intent_keywords") and "explicit_intent" not in values:
        what = "Intent Keywords without Explicit Intent; read as `Explicit Intent: yes`"
        page.warn(Code.MISSING_FIELD, keywords.key, what, "add `- **Explicit Intent**: yes`")
        values["explicit_intent"] = True
    return Safety(**values)


def _limits(
    definition: Definition,
    conditions: _Conditions,
    facts: tuple[str, ...],
    *,
    is_repeatable: bool,
) -> Limits:
    parameters = conditions.parameters
    read = _read_fields(definition, "Limits")
    if read is None:
        return _NO_LIMITS
    page, fields, values = definition.page, *read
    entry = fields.entry("retries")
    if entry is not None and values.get("retries") and not is_repeatable:
        page.hint(
            Code.UNSAFE_RETRY,
            entry.value,
            "failed calls are not retried: the tool is neither Read Only nor Idempotent",
            "a retry might act twice; set Read Only or Idempotent if it can't, or remove Retries",
        )
    if (batch := values.get("max_batch")) is not None:
        arrays = [p.name for p in parameters if "array" in p.shape.types]
        entry = fields.entry("max_batch")
        if entry is not None:
            page.named("parameter", batch.parameter, entry.value)
        if batch.parameter not in arrays and entry is not None:
            what = f"Max Batch splits '{batch.parameter}', which is not an array parameter"
            help_ = f"name one of {', '.join(arrays)}" if arrays else "remove Max Batch"
            page.error(Code.FIELD_MISMATCH, entry.value, what, help_)
    if (entry := fields.entry("max_bytes")) and values.get("max_bytes", 0) > _MODEL_BYTES:
        what = "a model reads at most 256 KiB of a result, whatever Max Bytes says"
        page.warn(Code.UNREAD_DETAIL, entry.value, what, "write at most `256KB`")
    quotas = values.get("quotas", ())
    if (entry := fields.entry("quotas")) is not None and quotas:
        for quota, mark in zip(quotas, quota_marks(entry), strict=False):
            _check_quota(definition, conditions, facts, quota, mark)
    if most := values.pop("max_calls", None):
        values["quotas"] = (*quotas, Quota(most, ("conversation",), EVER))
    return Limits(**values)


def _check_quota(
    definition: Definition,
    conditions: _Conditions,
    facts: tuple[str, ...],
    quota: Quota,
    mark: Mark,
) -> None:
    """Report what a quota counts that can't be counted."""
    page, identity = definition.page, definition.page.identity
    named = {p.name: p for p in conditions.parameters}
    if quota.of and (why := _no_sum(quota.of, named)):
        page.error(Code.FIELD_MISMATCH, mark, f"a Quota can't sum {quota.of}: {why[0]}", why[1])
    for key in quota.per:
        if key[0] == "`":
            conditions.check_key(mark, key.strip("` "))
        elif key in named:
            help_ = f"write it in backticks: per `{key}`"
            page.error(Code.UNKNOWN_FACT, mark, f"'{key}' is a parameter, not a fact", help_)
        elif key not in OWN_KEYS and identity is not None:
            known = {*facts, *dict(identity.facts)}
            if key not in known:
                help_ = did_you_mean(key, (*known, *OWN_KEYS)) or (
                    f"name it in Requires Context, or in the settings below [identity]: facts.{key}"
                )
                page.error(Code.UNKNOWN_FACT, mark, f"no caller has a fact '{key}'", help_)
    if quota.when:
        conditions.check(mark, quota.when, "condition of Quota")
    if quota.window in OF_A_ZONE and identity is not None and not identity.time_zone:
        page.error(
            Code.TIME_ZONE_MISSING,
            mark,
            f"a {quota.window} begins at midnight, and the settings name no time zone",
            'set it: time_zone = "Europe/Berlin"; or write a length: in 24h',
        )


def _no_sum(name: str, parameters: Mapping[str, Parameter]) -> tuple[str, str] | None:
    """Return why a parameter can't be summed, and the remedy."""
    one = parameters.get(name)
    if one is None:
        near = did_you_mean(name, parameters)
        return "the tool has no such parameter", near or "name a parameter that is a number"
    if one.shape.types not in (("integer",), ("number",)):
        return "it is not a number", "sum an integer or a number"
    if not one.required:
        return "a call may leave it out", "make it required"
    if one.shape.minimum is None or one.shape.minimum < 0:
        return "it may be negative, which would refill the quota", "give it `- **Minimum**: 0`"
    return None


def _read_fields(definition: Definition, name: str) -> tuple[Fields, dict[str, Any]] | None:
    """Read a section of fields and its values; None if the section is missing."""
    section = definition.section(name)
    if section is None or section.table is None:
        return None
    read = read_entries(definition.page, section.blocks, section.table)
    fields = name_fields(definition.page, read.entries, section.table)
    values = read_values(definition.page, fields)
    definition.document.keep(section, read.prose, section.parts)
    return fields, values


Check = Callable[..., bool]
"""Compiles an expression at a mark, named by these words; False where it was reported."""
_GIVEN = re.compile(r"`?([A-Za-z_]\w*)`? from `?([A-Za-z_][\w-]*)`?")
_HELP = "write `- **Given**: order from get_order`, and the arguments of get_order as bullets below"


def is_given(item: Node) -> bool:
    """Return whether a bullet of Rules is a Given."""
    return item.keyed and fold(item.name) == "given"


def read_given(definition: Definition, check: Check) -> tuple[Given, ...]:
    """Read each Given in Rules; `check` checks an expression over the arguments and the caller."""
    section, page = definition.section("Rules"), definition.page
    bullets = [b for b in section.blocks if isinstance(b, Bullets)] if section is not None else []
    found: dict[str, Given] = {}
    for item in [item for block in bullets for item in block.items if is_given(item)]:
        read = _GIVEN.fullmatch(item.text)
        if read is None:
            page.error(Code.UNREADABLE_VALUE, item.written, "this Given can't be read", _HELP)
            continue
        name, tool = read[1], read[2].replace("-", "_")
        if name in found or name in {CALLER, NOW, "approver"}:
            what = f"'{name}' stands for something else in this file"
            page.error(Code.AMBIGUOUS_NAME, item.value, what, "give the result another name")
            continue
        page.named("definition", tool, item.value)
        arguments = dict(_arguments(page, item, check))
        found[name] = Given(name, tool, arguments, item.mark.line)
    return tuple(found.values())


def _arguments(page: Page, item: Node, check: Check) -> Iterator[tuple[str, str]]:
    for block in item.blocks:
        if not isinstance(block, Bullets | Comment):
            what = "this is not read, so the tool would not get it"
            page.error(Code.UNREADABLE_VALUE, mark_of(block), what, _HELP)
    known: set[str] = set()
    for one in item.items:
        text, name = one.text, one.name.replace("-", "_")
        is_code = len(text) > 2 and text[0] == text[-1] == "`" and "`" not in text[1:-1]  # noqa: PLR2004
        is_value = scalars.number(text) is not None or text in {"true", "false"}
        if not one.keyed or one.blocks or not (is_code or is_value):
            what = f"'{one.mark.text}' is no argument with its value"
            help_ = f"write `` - {name}: `{text or name}` `` for the value of a name, "
            help_ += f"or `` - {name}: `'{text or name}'` `` for that text"
            page.error(Code.UNREADABLE_VALUE, one.mark, what, help_)
        elif name in known:
            page.error(Code.DUPLICATE_FIELD, one.key, f"'{name}' is written twice", "keep one")
        else:
            known.add(name)
            cel = text.strip("` ")
            mark = page.mark(cel, one.value.line, one.value.column)
            if check(mark, cel, "argument of Given", any_type=True):
                yield name, cel
