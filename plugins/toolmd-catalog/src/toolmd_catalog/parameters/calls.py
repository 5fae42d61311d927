"""Example calls of known tools, anywhere on a page: which arguments they name, and with what."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from toolmd.importing import tool_name
from toolmd_catalog.layout.blocks import Block, Fence, Paragraph
from toolmd_catalog.phrases.found import ParameterFound
from toolmd_catalog.phrases.literals import literal, objects
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
_CODED = re.compile(r"`([^`]+)`")
_INPUT = re.compile(r"\b(?:inputs?|arguments|args|parameters|params|request|call)\b", re.IGNORECASE)
_OUTPUT = re.compile(r"\b(?:outputs?|results?|response|returns?)\b", re.IGNORECASE)
_LONGEST = 4000
"""Characters of one call's arguments."""
_MOST_FAILURES = 50
"""Calls of one fence that may stay open before it counts as other code."""


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


def read_inputs(blocks: Sequence[Block], tools: set[str]) -> dict[str, dict[str, Any]]:
    """Return the object below a line such as "Example `find` input:", of each known tool."""
    found: dict[str, dict[str, Any]] = {}
    for label, block in pairwise(blocks):
        if not (isinstance(label, Paragraph) and isinstance(block, Fence)):
            continue
        last = label.mark.text.rpartition("\n")[2]
        named = {tool_name(name) for name in _CODED.findall(last)} & tools
        values = objects(block.content)
        if len(named) != 1 or len(values) != 1 or not isinstance(values[0], dict):
            continue
        if _INPUT.search(_CODED.sub("", last)) and not _OUTPUT.search(_CODED.sub("", last)):
            found.setdefault(next(iter(named)), values[0])
    return found


def _calls(text: str, tools: set[str]) -> Iterator[tuple[str, str, int]]:
    """Yield each call's tool, its arguments with their brackets, and its place."""
    for form in (_HANDED, _CALLED):
        behind = failed = 0
        for match in form.finditer(text):
            name = tool_name(match["name"])
            if name not in tools or match.start() < behind or failed == _MOST_FAILURES:
                continue
            rest = text[match.end() : match.end() + _LONGEST]
            if (end := closing(rest, 0)) > 0:
                behind = match.end() + end
                yield name, rest[: end + 1], match.start()
            else:
                failed += 1


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
    one.samples += [sample for sample in literal(value) if sample is not None]
