"""Format parameters in the compact form: one bullet each, with what fits into brackets."""

from collections.abc import Iterator

from toolmd._parse.words.keys import plain
from toolmd._parse.writing.fields import (
    PLAIN,
    enum_word,
    indented,
    list_depth,
    literal,
    parameters_text,
    shape_lines,
    type_text,
    words_text,
)
from toolmd._types.schema import Parameter, Schema

_BOUNDS = (
    ("minimum", "maximum", ""),
    ("min_length", "max_length", " characters"),
    ("min_items", "max_items", " items"),
)
_MOST_NESTED = 5
"""The levels of bullets that fit below a bullet."""


def compact_text(parameters: tuple[Parameter, ...]) -> Iterator[str]:
    """Yield the blocks of a section of parameters; one that nests too deep gets its heading."""
    flat = [one for one in parameters if list_depth(one.shape) <= _MOST_NESTED]
    if len(flat) < len(parameters):
        yield from parameters_text(parameters)
        return
    if flat:
        yield "\n".join(line for one in flat for line in _lines(one))


def is_compact(text: str) -> bool:
    """Return whether a file's parameters are written as bullets with brackets."""
    inside = False
    found = False
    for line in text.splitlines():
        if line.startswith("## "):
            inside = line.strip() == "## Parameters"
        elif inside and line.startswith("#"):
            return False
        elif inside and line.startswith("- "):
            if not (line.startswith("- `") and "` (" in line):
                return False
            found = True
    return found


def _lines(parameter: Parameter) -> Iterator[str]:
    shape = parameter.shape
    details = [type_text(shape), "required" if parameter.required else "optional"]
    written = {"types", "required", "optional"}
    for text, names in _details(shape):
        details.append(text)
        written |= names
    told = shape.description or ""
    if told and told == plain(told) and "\n" not in told and not told.startswith(":"):
        written.add("description")
    else:
        told = ""
    yield f"- `{parameter.name}` ({', '.join(details)}){f': {told}' if told else ''}"
    for line in shape_lines(shape, 2, written=frozenset(written)):
        yield indented(line, 2)


def _details(shape: Schema) -> Iterator[tuple[str, set[str]]]:
    """Yield what stands in the brackets, and the attributes that it states; a list comes last."""
    for low, high, unit in _BOUNDS:
        least, most = getattr(shape, low), getattr(shape, high)
        if least is not None and most is not None:
            yield f"{_number(least)}..{_number(most)}{unit}", {low, high}
        elif least is not None:
            yield f"at least {_number(least)}{unit}", {low}
        elif most is not None:
            yield f"at most {_number(most)}{unit}", {high}
    for flag in ("sensitive", "verbatim"):
        if getattr(shape, flag):
            yield flag, {flag}
    if shape.has_default and _fits(literal(shape.default)):
        yield f"default {literal(shape.default)}", {"default"}
    if (
        shape.enum is not None
        and len(shape.enum) > 1
        and all(isinstance(value, str) and enum_word(value, shape) == value for value in shape.enum)
    ):
        yield f"one of {words_text(list(shape.enum))}", {"enum"}


def _fits(text: str) -> bool:
    return set(text) <= PLAIN and " " not in text


def _number(value: float) -> str:
    return str(int(value)) if value % 1 == 0 else repr(value)
