"""Input that an MCP server asks for during a call, and the person's answer."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from toolmd._types.schema import JSON_TYPES, KEYWORDS, Parameter, Schema
from toolmd._types.visible import brief

_BOUNDS = ("minimum", "maximum", "min_length", "max_length", "min_items", "max_items")
NO_VALUES: Mapping[str, Any] = {}


class Asked(NamedTuple):
    """One question of a server, and the state with which its call goes on."""

    prompt: str
    """The question for the person; it names the server."""
    form: Mapping[str, Any]
    """The JSON Schema of the answer: an object with flat fields."""
    key: str = ""
    """The server's name for the question."""
    state: str | None = None
    """What the server wants back with the answers, unread."""
    others: tuple[tuple[str, str, Mapping[str, Any]], ...] = ()
    """Further questions of the same answer: key, prompt and form."""
    answers: Mapping[str, Any] = NO_VALUES
    """What was answered before: `action` and `content` by the questions' keys."""
    parked: str = ""
    """The call that waits for the answer in a process, for servers that keep no state."""
    rounds: int = 1
    """How often the call was interrupted by a question."""
    action: Literal["", "accept", "decline"] = ""
    """The person's decision; empty for an open question."""
    content: Mapping[str, Any] = NO_VALUES
    """The values that the person entered."""

    def __repr__(self) -> str:
        return brief(self, "state", "answers", "content")

    @property
    def fields(self) -> tuple[Parameter, ...]:
        """The fields of the form."""
        return fields_of(self.form)

    @property
    def defaults(self) -> dict[str, Any]:
        """The values that the form suggests."""
        return {one.name: one.shape.default for one in self.fields if one.shape.has_default}


class InputRequiredError(Exception):
    """A server asks for input before the call can end."""

    def __init__(self, asked: Asked) -> None:
        """Keep the question."""
        super().__init__(asked.prompt)
        self.asked = asked


def fields_of(form: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """Return the fields of a form; what is not understood in one accepts any value."""
    properties, required = form.get("properties"), form.get("required")
    if not isinstance(properties, Mapping):
        return ()
    wanted = required if isinstance(required, list | tuple) else ()
    return tuple(
        Parameter(str(name), _shape(field if isinstance(field, Mapping) else {}), name in wanted)
        for name, field in properties.items()
    )


def _shape(field: Mapping[str, Any]) -> Schema:
    kind, words = field.get("type"), [field.get("title"), field.get("description")]
    more: dict[str, Any] = {}
    for name in _BOUNDS:
        bound = field.get(KEYWORDS[name].word)
        if isinstance(bound, int | float) and not isinstance(bound, bool):
            more[name] = bound
    if isinstance(field.get("format"), str):
        more["format"] = field["format"]
    if "default" in field:
        more |= {"has_default": True, "default": field["default"]}
    if isinstance(field.get("items"), Mapping):
        more["items"] = Schema(types=("string",), enum=_choices(field["items"]))
    return Schema(
        types=(kind,) if kind in JSON_TYPES else (),
        description=". ".join(word for word in words if isinstance(word, str) and word),
        enum=_choices(field),
        **more,
    )


def _choices(field: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return the values to choose from: of `enum`, or the `const` of `oneOf` or `anyOf`."""
    if isinstance(field.get("enum"), list | tuple):
        return tuple(field["enum"])
    return tuple(_constants(field.get("oneOf") or field.get("anyOf") or ())) or None


def _constants(choices: Any) -> Iterator[Any]:
    for choice in choices if isinstance(choices, list | tuple) else ():
        if isinstance(choice, Mapping) and "const" in choice:
            yield choice["const"]
