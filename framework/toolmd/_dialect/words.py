"""Read the calls that a model writes in its words: inline, a terminal action, or a plan."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from toolmd._dialect.calls import (
    MAX_CALLS,
    SPACE,
    Keys,
    decode,
    give_ids,
    read_call,
    read_id,
    readable,
    skip,
)
from toolmd._dialect.envelope import open_reply, read_envelope
from toolmd._dialect.quotes import find_own
from toolmd._types.call import Budget, Call
from toolmd._types.turn import Parsed
from toolmd._validation.strict_json import decode_loosely
from toolmd.errors import MalformedReplyError

MARKER, ACTION = "[TOOL_CALL:", "Action:"
T = TypeVar("T")
INLINE_KEYS = Keys("tool", "parameters", "id", "confidence")
ACTION_KEYS = Keys("tool", "args")
PLAN_KEYS = Keys("tool", "params")
_HEADS = ('{"tool":', '{"calls":', '{"budget":')
_PLAN = {"calls", "budget"}
_MARKER = re.compile(r"\[TOOL_(?:CALL|RESULT):")
_MOST_NAMED = 256
"""The most ids that are read of a reply that can't be read as a whole."""


class _Mark(NamedTuple):
    """A place where a call may begin."""

    cut: int
    """The end of the text before the call."""
    begin: int
    end: int
    """The call's own text, which nothing in it can quote."""
    value: Any = None
    """Its JSON."""
    fault: str = ""
    """Why its JSON can't be read."""


def _decode_mark(text: str, cut: int, begin: int, start: int, marker: str = "") -> _Mark:
    """Return the mark of a call whose object begins at `start`; `marker` begins the next one."""
    try:
        value, end = decode(text, start)
    except MalformedReplyError as error:
        # The id of a call that is denied is read all the same, so that it gets its result.
        value, end = decode_loosely(text, start) or (None, start + 1)
        after = text.find(marker, end) if marker else -1
        end = max(end, _end_of(text, start, after if after >= 0 else len(text)))
        return _Mark(cut, begin, end, value, str(error))
    return _Mark(cut, begin, end, value)


def _end_of(text: str, start: int, until: int) -> int:
    """Return where a broken object closes its braces; `until` where it does not before."""
    depth, in_text, at = 0, False, start
    while at < until:
        sign = text[at]
        if in_text:
            at += sign == "\\"
            in_text = sign != '"'
        elif sign == '"':
            in_text = True
        elif sign in "{}":
            depth += 1 if sign == "{" else -1
            if not depth:
                return at + 1
        at += 1
    # Its braces never close: the words behind it are the reply's, and so is a code span around it.
    if "`" in text[text.rfind("\n", 0, start) + 1 : start]:
        tick = text.find("`", start, until)
        until = tick if tick >= 0 else until
    closed = text.find("}]", start, until)
    line = text.find("\n", start, until)
    return closed + 1 if closed >= 0 else line if line >= 0 else until


def inline(text: str) -> Parsed:
    """Return the calls `[TOOL_CALL:{…}]` of the assistant's own text, any number, anywhere.

    Quoted ones stay in the clean message (seed 001).
    """
    marks = [*_inline_marks(text)]
    own = find_own(text, [(mark.begin, mark.end) for mark in marks])
    mine = [marks[number] for number, standing in own.items() if not standing.fence]
    spans: list[tuple[int, int]] = []
    calls: list[Call] = []
    named: dict[str, str] = {}
    fault = ""
    for mark in (mark for mark in mine if text.startswith(MARKER, mark.cut)):
        why = mark.fault
        if len(spans) == MAX_CALLS:
            why = f"more than {MAX_CALLS} calls in one reply"
        try:
            calls += () if why else [read_call(mark.value, INLINE_KEYS)]
        except MalformedReplyError as error:
            why = str(error)
        if why and not fault:
            fault = f"call {len(spans) + 1}, at character {mark.cut + 1}: {why}"
        said = mark.value if isinstance(mark.value, dict) else {}
        if (known := read_id(said.get("id"))) is not None and len(named) < _MOST_NAMED:
            named.setdefault(known, said["tool"] if isinstance(said.get("tool"), str) else "")
        spans.append((mark.cut, mark.end))
    if fault:
        clean = without_stretches(text, spans)
        raise MalformedReplyError(fault, clean_message=clean, calls=[*named.items()])
    if not calls:
        return Parsed(readable(text))
    return Parsed(without_stretches(text, spans), give_ids(calls), "inline")


def _inline_marks(text: str) -> Iterator[_Mark]:
    """Yield each call and each result, which may hold another's call, in the inline form."""
    at = 0
    while marker := _MARKER.search(text, at):
        cut, at = marker.span()
        start = skip(text, at)
        if not text.startswith("{", start):
            stop = text.find(MARKER, at)
            stop = len(text) if stop < 0 else stop
            line = text.find("\n", at, stop)
            close = text.find("]", at, line if line >= 0 else stop)
            end = skip(text, close, "]") if close >= 0 else at
            yield _Mark(cut, cut, end, fault=f"write {MARKER}{{…}}] with an object in it")
            at = end
            continue
        mark = _decode_mark(text, cut, cut, start, MARKER)
        end = skip(text, mark.end)
        ended = text.startswith("]", end)
        why = mark.fault or ("" if ended else "no ] after the object")
        mark = mark._replace(end=end + 1 if ended else mark.end, fault=why)
        yield mark
        at = mark.end


def action(text: str, *, strict: bool = True) -> Parsed:
    """Return the one call `Action: {"tool": …, "args": …}` that ends the reply (seed 004).

    `strict` rejects what is nearly a call: the marker at the beginning of a line without an object,
    and a call in a fence with text after it.
    """
    marks = [*_action_marks(text)]
    own = find_own(text, [(mark.begin, mark.end) for mark in marks])
    near = None
    every = [(marks[number].cut, marks[number].end) for number, (fence, ends) in own.items()
             if ends or not fence]  # fmt: skip
    for number, standing in own.items():
        mark, fence = marks[number], standing.fence
        apart = mark.begin > mark.cut
        if apart:
            fence = text[skip(text, mark.cut + len(ACTION))]
        elif fence:
            mark = mark._replace(cut=text.rfind(fence, 0, mark.cut))
        has_object = mark.value is not None or mark.fault
        if has_object and (standing.ends or apart or not fence):
            return _terminal(text, mark, fence, _read_action, "action", every)
        if fence or (not has_object and _begins_line(text, mark.cut)):
            near = near or mark
    if strict and near is not None:
        said = without_stretches(text, sorted({*every, (near.cut, near.end)}))
        raise MalformedReplyError(f"write {ACTION} and an object at the end", clean_message=said)
    return Parsed(readable(text))


def _action_marks(text: str) -> Iterator[_Mark]:
    at = 0
    while (cut := text.find(ACTION, at)) >= 0:
        at = cut + len(ACTION)
        if cut and text[cut - 1].isalnum():
            continue
        start = skip(text, at)
        inner = start
        if text.startswith(("```", "~~~"), start):
            inner = skip(text, text.find("\n", start) + 1 or len(text))
        if text.startswith("{", inner):
            mark = _decode_mark(text, cut, cut if inner == start else inner, inner)
            yield mark
            at = mark.end
        else:
            yield _Mark(cut, cut, at)


def _begins_line(text: str, mark: int) -> bool:
    return not text[text.rfind("\n", 0, mark) + 1 : mark].strip(" \t\r")


def _read_action(value: Any) -> tuple[Call, ...]:
    return (read_call(value, ACTION_KEYS),)


def _terminal(
    text: str, mark: _Mark, fence: str, read: Callable[[Any], tuple[Call, ...]], dialect: str,
    every: Sequence[tuple[int, int]],
) -> Parsed:  # fmt: skip
    """Read the call that ends a reply; behind it are only white space and the end of its fence.

    `every` are the places of all calls, which the clean message leaves out.
    """
    end = skip(text, mark.end)
    end = skip(text, end, fence[0]) if fence and text.startswith(fence[0], end) else mark.end
    others = [span for span in every if span[1] <= mark.cut or span[0] >= end]
    said = without_stretches(text, sorted([*others, (mark.cut, end)]))
    rest = text[mark.end :].strip(SPACE).strip(fence[:1] or SPACE)
    if why := mark.fault or (rest and "text after the call: it must end the reply"):
        raise MalformedReplyError(why, clean_message=said)
    try:
        return Parsed(said, read(mark.value), dialect)
    except MalformedReplyError as error:
        raise MalformedReplyError(str(error), code=error.code, clean_message=said) from None


def plan(text: str, *, strict: bool = True) -> Parsed:
    """Return the calls of the plan that ends the reply (seed 002).

    It is an object at the beginning of a line, or alone in a fence. `strict` takes any such object
    for a plan.
    """
    marks = [*_plan_marks(text)]
    own = find_own(text, [(mark.begin, mark.end) for mark in marks])
    every = [
        (marks[number].cut, marks[number].end) for number in own if is_plan(marks[number].value)
    ]
    for number, (fence, ends) in own.items():
        mark = marks[number]
        if fence and not ends:
            continue
        # Broken JSON counts as a plan only if it begins like one.
        head = "".join(text[mark.cut : mark.cut + 64].split()) if mark.fault else ""
        if not (strict or is_plan(mark.value) or head.startswith(_HEADS)):
            break
        cut = text.rfind(fence, 0, mark.cut) if fence else mark.cut
        return _terminal(text, mark._replace(cut=cut), fence, read_plan, "plan", every)
    return Parsed(readable(text))


def _plan_marks(text: str) -> Iterator[_Mark]:
    """Yield each object that begins a line, with a key or the closing brace behind its brace."""
    at = 0
    while (cut := text.find("{", at)) >= 0:
        begin, end = text.rfind("\n", at, cut) + 1 or at, cut + 1
        if not text[begin:cut].strip(SPACE) and text.startswith(('"', "}"), skip(text, end)):
            yield (mark := _decode_mark(text, cut, cut, cut))
            end = mark.end
        at = text.find("\n", end - 1) + 1 or len(text)


def is_plan(value: Any) -> bool:
    """Return whether a JSON value is meant as a plan."""
    return isinstance(value, Mapping) and ("calls" in value or {"tool", "params"} <= value.keys())


def read_plan(value: Any) -> tuple[Call, ...]:
    """Return the calls of `{"tool", "params"}`, or of `{"calls", "budget"}`, each with it."""
    if not isinstance(value, dict) or not value.keys() & _PLAN:
        return (read_call(value, PLAN_KEYS),)
    raw = value.get("calls")
    if value.keys() - _PLAN or not isinstance(raw, list):
        raise MalformedReplyError("a plan is an object with the keys calls (a list) and budget")
    if len(raw) > MAX_CALLS:
        raise MalformedReplyError(f"more than {MAX_CALLS} calls in one plan")
    calls = []
    for number, item in enumerate(raw, 1):
        try:
            calls.append(read_call(item, PLAN_KEYS))
        except MalformedReplyError as error:
            raise MalformedReplyError(f"call {number}: {error}") from None
    budget = _budget(value.get("budget"))
    return tuple(call._replace(budget=budget) for call in calls)


def _budget(value: Any) -> Budget:
    fields, code = Budget._fields, "invalid_plan"
    if not isinstance(value, dict) or value.keys() != set(fields):
        told = f"a plan needs a budget with the keys {', '.join(fields)}"
        raise MalformedReplyError(told, code=code)
    for key in fields:
        if type(value[key]) is not int or value[key] < 1:
            raise MalformedReplyError(f"budget.{key} must be an integer of at least 1", code=code)
    return Budget(**value)


_CLOSING = ".,;:!?)"


def without_stretches(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return the text without these spans, which are in order; only their seams change.

    At a seam a blank line stays a blank line, a line break a line break, any other white space
    one space, and no space precedes a closing character.
    """
    parts: list[str] = []
    start = 0
    gaps: list[str] = []
    for begin, end in [*spans, (len(text), len(text))]:
        part = text[start:begin]
        body = part.strip(SPACE)
        if body:
            lead = len(part) - len(part.lstrip(SPACE))
            parts += [_seam([*gaps, part[:lead]], body) if parts else "", body]
            gaps = [part[lead + len(body) :]]
        else:
            gaps.append(part)
        start = end
    return readable("".join(parts))


def _seam(gaps: Sequence[str], body: str) -> str:
    """Return the separator between the text before some calls and the `body` after them."""
    lines = max(gap.count("\n") for gap in gaps)
    if lines:
        return "\n" * min(lines, 2) + gaps[-1].rpartition("\n")[2]
    return " " if any(gaps) and body[0] not in _CLOSING else ""


def parse_words(read: Callable[[str], Parsed], reply: Any) -> Parsed:
    """Parse the assistant's own text with a text dialect; other messages have no calls."""
    envelope = open_reply(reply, json_text=False)
    if envelope.kind == "json":
        raise MalformedReplyError("the reply is neither text nor a message")
    if envelope.calls or envelope.fault:
        raise envelope.to_error("the calls of the reply are in another form than its dialect's")
    return Parsed(readable(envelope.text)) if envelope.kind == "foreign" else read(envelope.text)


def parse_plan(reply: Any) -> Parsed:
    """Return the plan's calls, each with the plan's budget; a plan needs a budget."""
    if isinstance(reply, Mapping) and is_plan(reply):
        return Parsed("", read_plan(open_reply(reply).value), "plan")
    return parse_words(plan, reply)


def parse_auto(reply: Any) -> Parsed:
    """Return the calls of a reply in any dialect; the error of a malformed call names it.

    Native calls precede those in text: inline calls first, then a terminal call.
    """
    envelope = open_reply(reply)
    if envelope.kind == "json" and is_plan(envelope.value):
        return Parsed("", _in("plan", read_plan, envelope.value), "plan")
    if envelope.kind != "text":
        return read_envelope(envelope)
    text = envelope.text
    parsed = _in("inline", inline, text)
    for name, read in (("action", action), ("plan", plan)):
        if parsed.calls:
            break
        parsed = _in(name, partial(read, strict=False), text)
    return parsed


def _in(dialect: str, read: Callable[..., T], *given: Any) -> T:
    try:
        return read(*given)
    except MalformedReplyError as error:
        error.dialect = dialect or error.dialect
        raise
