"""Hide Sensitive values wherever a call's arguments are stored or shown."""

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

from toolmd._types.schema import Parameter, Schema
from toolmd._validation.words import fits_type
from toolmd.errors import hidden_in

HIDDEN = "(hidden)"
_SHORT = 4
"""A shorter value is hidden only as a whole word, since other words may contain it."""


def redacted(arguments: Mapping[str, Any], parameters: tuple[Parameter, ...]) -> dict[str, Any]:
    """Return the arguments with each Sensitive value replaced, at every depth."""
    shapes = {p.name: p.shape for p in parameters}
    return {name: redacted_value(value, shapes.get(name)) for name, value in arguments.items()}


def changes(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    parameters: tuple[Parameter, ...],
    whose: str = "The user",
) -> tuple[str, ...]:
    """Return the notes of a result on what a person changed; empty where nothing changed."""
    old, new = redacted(before, parameters), redacted(after, parameters)
    changed = [
        f"{name}: {_text(old.get(name))} → {_text(new.get(name))}"
        for name in dict.fromkeys((*before, *after))
        if _text(before.get(name)) != _text(after.get(name))
    ]
    return (f"{whose} changed {', '.join(changed)}.",) if changed else ()


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def redacted_value(value: Any, shape: Schema | None) -> Any:
    """Return a value of this shape with its Sensitive parts replaced.

    A value of another type is replaced as a whole where the shape holds Sensitive values: it may
    be one of them.
    """
    if shape is None:
        return value
    if _is_secret(value, shape):
        return HIDDEN
    if isinstance(value, list):
        return [redacted_value(item, shape.items) for item in value]
    if isinstance(value, dict):
        return {name: _redacted_field(item, name, shape) for name, item in value.items()}
    return value


def _is_secret(value: Any, shape: Schema) -> bool:
    """Return whether a value is hidden as a whole, and not only in its parts."""
    if shape.sensitive or not shape.holds_sensitive or not value:
        return shape.sensitive
    if isinstance(value, list):
        return shape.items is None
    if isinstance(value, dict):
        return not any(one.properties or one.values for one in shape.objects)
    return not shape.types or not fits_type(value, shape)


def _redacted_field(value: Any, name: str, shape: Schema) -> Any:
    """Return a field as every shape that it may have shows it: of One Of it may be any."""
    for known in shape.of_field(name):
        value = redacted_value(value, known)
    return value


def _hidden(value: Any, shape: Schema | None, *, within: bool = False) -> Iterator[str]:
    """Return the words of all Sensitive parts of a value."""
    inside = within or (shape is not None and _is_secret(value, shape))
    if isinstance(value, list):
        for item in value:
            yield from _hidden(item, shape and shape.items, within=inside)
    elif isinstance(value, dict):
        for name, item in value.items():
            for below in (shape.of_field(name) if shape else ()) or (None,):
                yield from _hidden(item, below, within=inside)
    elif inside and value not in (None, "", True, False):
        yield str(value)


def hider(
    arguments: Mapping[str, Any], parameters: tuple[Parameter, ...]
) -> Callable[[str], str] | None:
    """Return a function that removes these arguments' Sensitive values; None without any.

    It finds the values within other words too, and as Python, JSON, HTML, URLs, hexadecimal
    and Base64 write them.
    """
    written = _written(arguments, parameters)
    return _replacing(written) if written else None


class Secrets:
    """The Sensitive values of a run, learned while it is executed."""

    def __init__(self) -> None:
        self._written: set[str] = set()
        self._hide: Callable[[str], str] | None = None

    def learn(self, arguments: Mapping[str, Any], parameters: tuple[Parameter, ...]) -> None:
        """Hide the Sensitive values of these arguments from now on."""
        if not self._written.issuperset(written := _written(arguments, parameters)):
            self._written |= written
            self._hide = _replacing(self._written)

    def learn_result(self, data: Any, shape: Schema | None) -> None:
        """Hide the Sensitive values of a result from now on."""
        if shape is not None:
            self.learn({"": data}, (Parameter(name="", shape=shape),))

    def hide(self, text: str) -> str:
        """Return a text without the learned values."""
        return text if self._hide is None else self._hide(text)

    def hide_in(self, value: Any) -> Any:
        """Return a JSON value whose texts, keys and numbers lack the learned values."""
        return value if self._hide is None else hidden_in(value, self._hide)


def _written(arguments: Mapping[str, Any], parameters: tuple[Parameter, ...]) -> set[str]:
    """Return the spellings of these arguments' Sensitive values in a text."""
    shapes = {p.name: p.shape for p in parameters if p.shape.holds_sensitive}
    words = {w for n, v in arguments.items() if n in shapes for w in _hidden(v, shapes[n])}
    written = {form for word in words for form in _forms(word)}
    # Lists and errors show the texts within them as Python does.
    return written | {repr(form)[1:-1] for form in written}


def _replacing(written: set[str]) -> Callable[[str], str]:
    words = [
        rf"(?<!\w){re.escape(form)}(?!\w)" if len(form) < _SHORT else re.escape(form)
        for form in sorted(written, key=len, reverse=True)
    ]
    pattern = re.compile("|".join(words))
    return lambda text: pattern.sub(HIDDEN, text)


def _forms(word: str) -> Iterator[str]:
    """Return the spellings of a value in a text."""
    yield word
    if len(word) < _SHORT:
        return
    import html  # Its table of entities is large, and most projects have nothing to hide.

    yield from (repr(word)[1:-1], ascii(word)[1:-1], html.escape(word))
    yield from (json.dumps(word)[1:-1], json.dumps(word, ensure_ascii=False)[1:-1])
    encoded = word.encode("utf-8", "surrogatepass")
    yield from (quote(encoded), quote(encoded, safe=""), quote_plus(encoded))
    yield from (repr(encoded)[2:-1], encoded.hex(), encoded.hex().upper())
    for before in range(3):
        # Behind other bytes, as in `user:password`; signs at the ends hold those too.
        text = base64.b64encode(bytes(before) + encoded).decode().rstrip("=")
        inner = text[(0, 2, 3)[before] : len(text) - bool((before + len(encoded)) % 3)]
        if len(inner) >= _SHORT:
            yield from (inner, inner.replace("+", "-").replace("/", "_"))
