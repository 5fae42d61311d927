"""Ask a model for what the reader could not read, and keep of its answer what the text holds."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

from toolmd import Parameter, Schema, ToolmdError, ToolSpec
from toolmd.importing import ImportReport, parameter_name, problems, tool_name
from toolmd_catalog.phrases.literals import JsonType
from toolmd_catalog.words import NUMBER, fold, number

Ask = Callable[[str, str, Mapping[str, Any]], Any]
"""Sends instructions and a text to a model; returns a value that follows the JSON Schema."""

INSTRUCTIONS = (
    "The text describes tools that a program may call. List the parameters of each tool as the"
    " text states them. Name tools and parameters as the text does. `quote` is the passage, copied"
    " from the text exactly, that states the parameter: its name, and each value and number that"
    " you list, stand in it. Leave out everything that the text does not state."
)
_KINDS = tuple(kind for kind in get_args(JsonType) if kind != "null")
_PARAMETER = {
    "type": "object",
    "required": ["name", "quote"],
    "properties": {
        "name": {"type": "string"},
        "quote": {"type": "string"},
        "type": {"enum": [*_KINDS]},
        "required": {"type": "boolean"},
        "enum": {"type": "array", "items": {"type": ["string", "number"]}},
        "minimum": {"type": "number"},
        "maximum": {"type": "number"},
    },
}
_TOOL = {
    "type": "object",
    "required": ["name", "parameters"],
    "properties": {
        "name": {"type": "string"},
        "parameters": {"type": "array", "items": _PARAMETER},
    },
}
SCHEMA = {
    "type": "object",
    "required": ["tools"],
    "properties": {"tools": {"type": "array", "items": _TOOL}},
}
_MOST = 500
"""The most parameters of an answer that are looked at."""
_LONGEST_QUOTE = 500
_SHOWN = 60
_NUMBERS = ("minimum", "maximum")


@dataclass(frozen=True, slots=True)
class OpenArguments:
    """What the reader left open of a tool's parameters."""

    types: frozenset[str] = frozenset()
    """The parameters whose type nothing in the text shows."""
    needs: frozenset[str] = frozenset()
    """The parameters that are optional only because the text does not say."""
    more: bool = False
    """Whether there may be parameters that were not read."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A parameter as a model states it; all of it stands in the text."""

    name: str
    quote: str
    line: int
    said: Mapping[str, Any]
    """Fields of its shape: `types`, `enum`, `minimum`, `maximum`."""
    required: bool


class SuggestionReader:
    """Reads a model's answer against the text."""

    def __init__(self, text: str, report: ImportReport) -> None:
        self._report = report
        words = [(word, line) for line, row in enumerate(text.split("\n"), 1)
                 for word in _plain(row).split()]  # fmt: skip
        self._text = " ".join(word for word, _ in words)
        self._lines = [line for _, line in words]
        self._starts: list[int] = []
        at = 0
        for word, _ in words:
            self._starts.append(at)
            at += len(word) + 1

    def read(self, answer: Any) -> dict[str, list[Suggestion]]:
        """Return the suggestions by tool, without what the text does not hold."""
        found: dict[str, list[Suggestion]] = {}
        for tool, given in list(_given(answer))[:_MOST]:
            if (one := self._suggestion(tool, given)) is not None:
                found.setdefault(tool, []).append(one)
        return found

    def _suggestion(self, tool: str, given: Mapping[str, Any]) -> Suggestion | None:
        name, quote = str(given["name"]), " ".join(_plain(str(given["quote"])).split())
        if not (place := self._place(quote)):
            self._drop(tool, name, "its quote is not in the text")
            return None
        if parameter_name(name) != name or not _stands(name, quote):
            self._drop(tool, name, "its quote has no such name")
            return None
        said: dict[str, Any] = {}
        if given.get("type") in _KINDS:
            said["types"] = (given["type"],)
        for key in _NUMBERS:
            if key in given and self._holds(tool, name, given[key], quote):
                said[key] = given[key]
        listed = given.get("enum")
        values = listed if isinstance(listed, list) else []
        # A part of the values would allow too little.
        if values and all(self._holds(tool, name, value, quote) for value in values):
            said["enum"] = tuple(dict.fromkeys(values))
        return Suggestion(name, quote, place, said, given.get("required") is True)

    def _place(self, quote: str) -> int:
        """Return the line of a quote; 0 where the text does not have it."""
        at = f" {self._text} ".find(f" {quote} ")
        if not quote or len(quote) > _LONGEST_QUOTE or at < 0:
            return 0
        return self._lines[bisect_right(self._starts, at) - 1]

    def _holds(self, tool: str, name: str, value: Any, quote: str) -> bool:
        """Return whether a value stands in a quote; note it where not."""
        if isinstance(value, str):
            stands = bool(value.strip()) and _has_words(re.escape(value), quote)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            stands = value in {number(match[0]) for match in re.finditer(NUMBER, quote)}
        else:
            stands = False
        if not stands:
            self._drop(tool, name, f"its quote does not have {_short(value)}")
        return stands

    def _drop(self, tool: str, name: str, why: str) -> None:
        noted = f"the model's parameter {_short(name)} is left out, or a part of it: {why}"
        self._report.note(tool, "", noted)


def suggestions(text: str, ask: Ask, report: ImportReport) -> dict[str, list[Suggestion]]:
    """Ask a model about a text; without a usable answer there is a note, and no suggestion."""
    try:
        answer = ask(INSTRUCTIONS, text, SCHEMA)
    except ToolmdError as error:
        report.note("", "", f"the model added nothing: {error}")
        return {}
    return SuggestionReader(text, report).read(answer)


def filled(
    spec: ToolSpec, left: OpenArguments, suggested: list[Suggestion], report: ImportReport
) -> tuple[ToolSpec, list[str]]:
    """Return a tool with what a model adds to it, and a text for each guess.

    Nothing that was read changes: a type only where none was shown, a need only to required.
    """
    guesses = []
    for one in suggested:
        made, guess = _with(spec, left, one)
        if not guess:
            continue
        if _fits(made):
            spec = made
            guesses.append(f"{guess}; it quotes line {one.line}: {one.quote}")
        else:
            noted = "what the model says of it does not fit the tool: left out"
            report.note(spec.name, one.name, noted, one.line)
    return spec, guesses


def _with(spec: ToolSpec, left: OpenArguments, one: Suggestion) -> tuple[ToolSpec, str]:
    """Return the tool with one suggestion, and the guess; empty where it adds nothing."""
    known = next((p for p in spec.parameters if fold(p.name) == fold(one.name)), None)
    if known is None:
        if not left.more:
            return spec, ""
        types = one.said.get("types", ("string",))
        shape = _shape(
            Schema(types=types, description=one.quote.lstrip("-+ ")), one.said, may_type=False
        )
        made = Parameter(name=one.name, shape=shape, required=one.required)
        return _updated(spec, (*spec.parameters, made)), _told(None, made)
    shape = _shape(known.shape, one.said, may_type=known.name in left.types)
    required = known.required or (one.required and known.name in left.needs)
    made = replace(known, shape=shape, required=required)
    if made == known:
        return spec, ""
    parameters = tuple(made if p is known else p for p in spec.parameters)
    return _updated(spec, parameters), _told(known, made)


def _shape(shape: Schema, said: Mapping[str, Any], *, may_type: bool) -> Schema:
    if may_type and "types" in said:
        shape = replace(shape, types=said["types"])
    if set(shape.types) & {"integer", "number"} and shape.enum is None:
        for key in _NUMBERS:
            if key in said and shape.minimum is None and shape.maximum is None:
                shape = replace(shape, **{k: said[k] for k in _NUMBERS if k in said})
    if "enum" in said and shape.enum is None and not any(problems(v, shape) for v in said["enum"]):
        shape = replace(shape, enum=said["enum"])
    return shape


def _told(before: Parameter | None, now: Parameter) -> str:
    """Return the changes of a parameter in words."""
    old = Schema() if before is None else before.shape
    said = [] if now.shape.types == old.types else [" or ".join(now.shape.types)]
    if now.required and not (before and before.required):
        said.append("required")
    elif before is None:
        said.append("optional")
    said += [
        f"{key} {value:g}"
        for key in _NUMBERS
        if (value := getattr(now.shape, key)) != getattr(old, key)
    ]
    if now.shape.enum != old.enum:
        said.append(f"one of {', '.join(map(str, now.shape.enum or ()))}")
    return f"{now.name} is {', '.join(said)}"


def _updated(spec: ToolSpec, parameters: tuple[Parameter, ...]) -> ToolSpec:
    return spec.model_copy(update={"parameters": parameters})


def _fits(spec: ToolSpec) -> bool:
    """Return whether the tool can be a draft, with its rules and examples."""
    whole = Schema(types=("object",), properties=spec.parameters)
    if any(problems(example.arguments, whole) for example in spec.examples):
        return False
    trial = ImportReport()
    trial.add_tool(spec)
    return not trial.rejected


def _given(answer: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each parameter of an answer with its tool's name, whatever else it holds."""
    tools = answer.get("tools") if isinstance(answer, dict) else None
    for tool in tools if isinstance(tools, list) else ():
        if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
            continue
        parameters = tool.get("parameters")
        for one in parameters if isinstance(parameters, list) else ():
            texts = isinstance(one, dict) and [one.get("name"), one.get("quote")]
            if texts and all(isinstance(text, str) for text in texts):
                yield tool_name(tool["name"]), one


def _plain(text: str) -> str:
    """Return a text without the marks of bold and of code, which models leave out."""
    return text.replace("*", "").replace("`", "")


def _stands(name: str, quote: str) -> bool:
    """Return whether a name stands in a quote: `bed_width`, or `Bed width`."""
    words = [re.escape(word) for word in re.split(r"[_-]+", name) if word]
    return bool(words) and _has_words(r"[\s_-]+".join(words), quote, re.IGNORECASE)


def _has_words(pattern: str, quote: str, flags: int = 0) -> bool:
    return re.search(rf"(?<!\w){pattern}(?!\w)", quote, flags) is not None


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
