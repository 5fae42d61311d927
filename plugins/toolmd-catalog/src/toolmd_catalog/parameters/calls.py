"""Example calls of known tools, anywhere on a page: which arguments they name, and with what."""

import re
from collections.abc import Iterable, Iterator

from toolmd_catalog.layout.blocks import Fence
from toolmd_catalog.names import tool_name
from toolmd_catalog.phrases.found import ParameterFound
from toolmd_catalog.phrases.literals import json_type, literal
from toolmd_catalog.words import closing, split

Shown = dict[str, ParameterFound]
"""The parameters that the examples of one tool name."""

_HANDED = re.compile(
    r"[\"'`](?P<name>[A-Za-z_][\w.-]{0,63})[\"'`]\s*,\s*"
    r"(?:[\"']?(?:arguments|args|params|parameters|input|kwargs|tool_input)[\"']?\s*[:=]\s*)?"
    r"(?=\{)"
)
"""`"find", {…}` and `"name": "find", "arguments": {…}`: a name, then an object."""
_CALLED = re.compile(r"(?<![\w-])(?<!def )(?<!function )(?P<name>[A-Za-z_][\w-]{0,63})(?=\()")
_REMARK = re.compile(r"(?<=[\s,{(\[])(?:#|//)(?=\s).*$", re.MULTILINE)
_GIVEN = re.compile(
    r"[\"']?(?P<key>[A-Za-z_$][\w$-]{0,62})[\"']?\s*(?P<sign>[:=])(?!=)\s*(?P<value>.+)", re.DOTALL
)
_LONGEST = 4000
"""Characters of one call's arguments."""


def read_calls(fences: Iterable[Fence], tools: set[str]) -> dict[str, Shown]:
    """Return the parameters that the calls of each known tool name; code is never run."""
    found: dict[str, Shown] = {}
    for fence in fences:
        text = _REMARK.sub("", fence.content)
        for name, given, at in _calls(text, tools):
            line = fence.mark.line + 1 + text.count("\n", 0, at)
            for key, value in _given(given):
                _show(found.setdefault(name, {}), key, value, line)
    return found


def _calls(text: str, tools: set[str]) -> Iterator[tuple[str, str, int]]:
    """Yield each call's tool, its arguments with their brackets, and its place."""
    for match in (*_HANDED.finditer(text), *_CALLED.finditer(text)):
        name = tool_name(match["name"])
        if name not in tools:
            continue
        rest = text[match.end() : match.end() + _LONGEST]
        if (end := closing(rest, 0)) > 0:
            yield name, rest[: end + 1], match.start()


def _given(group: str) -> Iterator[tuple[str, str]]:
    """Yield each key and value; nothing where one has no key, since its name is unknown."""
    inside = group[1:-1].strip()
    sign = ":" if group[0] == "{" else "="
    if sign == "=" and inside.startswith("{") and closing(inside, 0) == len(inside) - 1:
        inside, sign = inside[1:-1], ":"
    parts = [_GIVEN.fullmatch(part) for part in split(inside, (",",))]
    named = [part for part in parts if part is not None]
    # `find(city: string)` declares and does not call.
    if len(named) == len(parts) and all(part["sign"] == sign for part in named):
        yield from ((part["key"], part["value"]) for part in named)


def _show(shown: Shown, key: str, value: str, line: int) -> None:
    one = shown.setdefault(key, ParameterFound(key, line, key, marked=True, need=False))
    one.guessed_need = True
    for sample in literal(value):
        if sample is None:
            continue
        kind, known = json_type(sample), one.said.get("types", ())
        if {*known, kind} == {"integer", "number"}:
            one.said["types"] = ("number",)
        elif kind not in known:
            one.said["types"] = (*known, kind)
        if not one.sampled:
            one.sample, one.sampled = sample, True
