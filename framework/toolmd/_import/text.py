"""Draft tools from prose with a model; the text holds a quotation for all that enters."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from toolmd._import.functions import UnreadableSourceError, add_function, read_json
from toolmd._import.names import parameter_name
from toolmd._import.policy import Policy
from toolmd._import.report import ImportReport
from toolmd._types.imported import Imported
from toolmd._types.schema import JSON_TYPES

Ask = Callable[[str, str], str]
"""Sends instructions and a text to a model, and returns the words of its answer."""

_BOUNDS = (
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "minItems", "maxItems", "default"),
)
_FORM = {
    "tools": [
        {
            "name": "the tool's name",
            "quote": "the passage that names the tool and states what it does",
            "parameters": [
                {
                    "name": "the parameter's name",
                    "quote": "the passage that states the parameter",
                    "type": " | ".join(one for one in JSON_TYPES if one != "null"),
                    "required": True,
                    "enum": ["each value"],
                    **dict.fromkeys(_BOUNDS, "a value"),
                }
            ],
            "restrictions": [
                {
                    "key": "requires_confirmation | min_confidence | rate | …",
                    "value": True,
                    "quote": "the passage that states the restriction",
                }
            ],
        }
    ]
}
INSTRUCTIONS = (
    "The text describes tools that a program may call. List each tool, its parameters, and what"
    " restricts its calls, as the text states them. Each `quote` is copied from the text exactly,"
    " and has in it the name and each value and number that you list beside it. Leave out"
    " everything that the text does not state. Answer with one JSON value of this form, and with"
    f" nothing else: {json.dumps(_FORM)}"
)
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?")
_LONGEST_QUOTE = 2000
_MOST = 500
"""The most tools of an answer, and the most parameters of a tool."""


def draft(text: str, ask: Ask) -> Imported:
    """Ask a model about a text, and return drafts of the tools that the text holds.

    Args:
        text: The document.
        ask: Sends it to the model.

    Raises:
        UnreadableSourceError: The answer is not the JSON that was asked for.
    """
    reader = _Answer(text)
    words = ask(INSTRUCTIONS, text).strip()
    fenced = re.fullmatch(r"```\w*\n(.*)\n```", words, re.DOTALL)
    try:
        answer = read_json(fenced[1] if fenced else words)
    except UnreadableSourceError as error:
        raise UnreadableSourceError(f"the model's answer: {error}") from None
    tools = answer.get("tools") if isinstance(answer, Mapping) else None
    if not isinstance(tools, list):
        raise UnreadableSourceError("the model's answer has no list `tools`")
    for tool in tools[:_MOST]:
        reader.add(tool)
    if len(tools) > _MOST:
        reader.report.reject("", f"{len(tools) - _MOST} more tools: give a part of the text")
    if not reader.report.drafts and not reader.report.rejected:
        reader.report.reject("", "the model found no tool in the text")
    return reader.report.close()


class _Answer:
    """Checks a model's answer against the text."""

    def __init__(self, text: str) -> None:
        self.report = ImportReport()
        self._text = _plain(text)

    def add(self, tool: Any) -> None:
        """Add the draft of one tool, without what the text does not hold."""
        if not isinstance(tool, Mapping) or not isinstance(tool.get("name"), str):
            self.report.reject("", "an entry of the model's answer is no tool")
            return
        name = tool["name"]
        quote = self._quote(tool, name)
        if not quote:
            self.report.reject(name, "the text has no such quotation with this name")
            return
        self.report.note("", "", "a model drafted this: compare each draft with the text")
        fields: dict[str, Any] = {}
        required = []
        for one in _entries(tool, "parameters"):
            own = str(one.get("name") or "")
            said = self._quote(one, own) if parameter_name(own) == own else ""
            if not said:
                self._drop(name, own, "the text has no such quotation with this name")
                continue
            fields[own] = self._schema(name, own, one, said)
            if one.get("required") is True:
                required.append(own)
        schema = {"type": "object", "properties": fields, "required": required,
                  "additionalProperties": False}  # fmt: skip
        entry = {"name": name, "description": quote, "parameters": schema}
        add_function(entry, self.report, policy=tuple(self._policy(name, tool)))

    def _schema(self, tool: str, name: str, said: Mapping[str, Any], quote: str) -> dict[str, Any]:
        kind = said.get("type")
        schema: dict[str, Any] = {"description": quote}
        if isinstance(kind, str) and kind in JSON_TYPES:
            schema["type"] = kind
        for key in (key for key in _BOUNDS if said.get(key) is not None):
            if _holds(said[key], quote):
                schema[key] = said[key]
            else:
                self._drop(tool, name, f"its quotation does not have {key} {said[key]!r}")
        values = said.get("enum")
        if isinstance(values, list) and values:
            # A part of the values would allow too little.
            if lacking := [one for one in values if not _holds(one, quote)]:
                self._drop(tool, name, f"its quotation does not have {lacking[0]!r}")
            else:
                schema["enum"] = values
        return schema

    def _policy(self, tool: str, said: Mapping[str, Any]) -> Iterator[Policy]:
        """Yield each restriction that the text holds; `check` reads its key and its value."""
        for one in _entries(said, "restrictions"):
            key, value = str(one.get("key") or ""), one.get("value")
            quote = self._quote(one, "")
            if not quote or not (isinstance(value, bool) or _holds(value, quote)):
                self._drop(tool, key, "the text has no such quotation with this value")
            else:
                yield key, value

    def _quote(self, said: Mapping[str, Any], name: str) -> str:
        """Return a quotation that the text has, and that has the name; else an empty text."""
        quote = _plain(str(said.get("quote") or ""))
        words = [re.escape(word) for word in re.split(r"[_-]+", name) if word]
        named = not name or _stands(r"[\s_-]+".join(words), quote, re.IGNORECASE)
        stands = 0 < len(quote) <= _LONGEST_QUOTE and _stands(re.escape(quote), self._text)
        return quote.lstrip("-+# ") if stands and named else ""

    def _drop(self, tool: str, name: str, why: str) -> None:
        self.report.note(tool, name, f"left out of the model's answer: {why}")


def _entries(tool: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    listed = tool.get(key)
    entries = listed if isinstance(listed, list) else []
    return [one for one in entries[:_MOST] if isinstance(one, Mapping)]


def _holds(value: Any, quote: str) -> bool:
    """Return whether a value stands in a quotation."""
    if isinstance(value, list):
        return bool(value) and all(_holds(one, quote) for one in value)
    if isinstance(value, str):
        words = re.escape(_plain(value))
        return bool(words) and _stands(words, quote)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return json.dumps(value) in quote.split()
    return value in {float(one.replace(",", "")) for one in _NUMBER.findall(quote)}


def _stands(pattern: str, text: str, flags: int = 0) -> bool:
    return re.search(rf"(?<!\w){pattern}(?!\w)", text, flags) is not None


def _plain(text: str) -> str:
    """Return a text on one line, without the marks of bold and of code, which models leave out."""
    return " ".join(text.replace("*", "").replace("`", "").split())
