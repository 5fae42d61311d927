"""Format a tool in the compact form: a line for each parameter, and for the fields of a section."""

from collections.abc import Iterator
from dataclasses import replace

from toolmd._parse.blocks.tokens import MAX_LIST_DEPTH
from toolmd._parse.parameters.types import read_type
from toolmd._parse.words.keys import plain
from toolmd._parse.writing.fields import (
    PLAIN,
    enum_word,
    indented,
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
_FORMATS = {"date": "date", "time": "time", "date-time": "datetime", "uuid": "uuid",
            "email": "email", "uri": "uri"}  # fmt: skip
"""The types that say the format of a string."""
_NESTED = frozenset(("items", "properties", "one_of"))
_WIDEST = 120
_LONGEST = 60
"""The characters of a code span that stands in the brackets."""
_TICKS = 2


def joined_fields(lines: list[str]) -> list[str]:
    """Join bullets of one line each, `- **Rate**: 3/s; **Timeout**: 10s`, up to a line's width."""
    found: list[str] = []
    for line in lines:
        whole = f"{found[-1]}; {line.removeprefix('- ')}" if found else line
        alone = "\n" in line or ";" in line or "**Description**" in line
        if found and not alone and "\n" not in found[-1] and len(whole) <= _WIDEST:
            found[-1] = whole
        else:
            found.append(line)
    return found


def compact_parameters(parameters: tuple[Parameter, ...]) -> Iterator[str]:
    """Yield a block with a bullet for each parameter; headings where fields nest too deep."""
    if any(_depth(one.shape) > MAX_LIST_DEPTH for one in parameters):
        yield from parameters_text(parameters)
    elif parameters:
        yield "\n".join(line for one in parameters for line in _lines(one))


def compact_result(shape: Schema) -> list[str]:
    """Return the bullets of a result, its fields among them."""
    words, below = _type(shape)
    bare = replace(below, description="", properties=None, items=None, one_of=None)
    bare = bare if words != _FORMATS.get(shape.format or "") else replace(bare, format=None)
    rest = shape_lines(bare, 1, written=frozenset({"types"}))
    first = joined_fields([f"- **Type**: {words}", *rest])
    said = shape_lines(Schema(description=shape.description), 1, written=frozenset({"types"}))
    if _is_line(shape.description) and "\n" not in first[-1]:
        first[-1] += f"; {said.pop().removeprefix('- ')}"
    return [*first, *said, *_nested(below)]


def is_compact(text: str) -> bool:
    """Return whether a file's parameters or inputs, or a tool's Metadata, are compact."""
    title = ""
    for line in text.splitlines():
        if line.startswith("## "):
            title = line.strip("# ")
        elif line.startswith("- `") and title in {"Parameters", "Input Schema"}:
            return "` (" in line
        elif line.startswith("- **Name**") and title == "Metadata" and "; **" in line:
            return True
    return False


def _lines(parameter: Parameter) -> Iterator[str]:
    yield from _shape(f"- `{parameter.name}`", parameter.shape, required=parameter.required)


def _shape(head: str, shape: Schema, *, required: bool = False) -> Iterator[str]:
    """Yield a bullet `HEAD (type, required, …): description`, and what does not fit, below."""
    words, below = _type(shape)
    details = [words, "required"] if required else [words]
    written = {"types", "required", "optional", "format"} | _NESTED
    if below.format and words not in _FORMATS.values():
        written.discard("format")
    for text, names in _details(below):
        details.append(text)
        written |= names
    told = f": {shape.description}" if _is_line(shape.description) else ""
    written |= {"description"} if told else set()
    yield f"{head} ({', '.join(details)}){told}"
    for line in (*shape_lines(below, 2, written=frozenset(written)), *_nested(below)):
        yield indented(line, 2)


def _nested(shape: Schema) -> Iterator[str]:
    """Yield the bullets of the fields, the shapes or the items of a value."""
    for parameter in shape.properties or ():
        yield from _lines(parameter)
    if shape.properties == ():
        yield "- **Properties**: None"
    if shape.one_of is not None:
        yield "- **One Of**:"
        for each in shape.one_of:
            yield from (indented(line, 2) for line in _lines(each))
    if shape.items is not None:
        yield from _shape("- **Items**:", shape.items)


def _type(shape: Schema) -> tuple[str, Schema]:
    """Return the words of a type, and the schema of which they leave the rest to say.

    The fields of an array's objects become those of the array, as they are written.
    """
    items = shape.items
    if shape.types == ("string",) and shape.format in _FORMATS:
        return _FORMATS[shape.format], shape
    if shape.types != ("array",) or items is None:
        return type_text(shape), shape
    words, within = _type(items)
    fields = within.properties
    if fields and items == Schema(("object",), properties=fields):
        return "array of object", replace(shape, items=None, properties=fields)
    whole = f"array of {words}"
    if read_type(whole) == Schema(("array",), items=items):
        return whole, replace(shape, items=None)
    return "array", shape


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
    for flag in ("sensitive", "verbatim", "unique"):
        if getattr(shape, flag):
            yield flag, {flag}
    if shape.pattern is not None and _fits(f"`{shape.pattern}`"):
        yield f"pattern `{shape.pattern}`", {"pattern"}
    if shape.has_default and _fits(told := literal(shape.default)):
        yield f"default {told}", {"default"}
    if shape.enum:
        values = words_text([enum_word(value, shape) for value in shape.enum])
        several = len(shape.enum) > 1
        plain_words = all(isinstance(value, str) for value in shape.enum) and '"' not in values
        if plain_words and (several or not values.startswith("`")):
            yield f"{'one of' if several else 'enum'} {values}", {"enum"}


def _is_line(text: str) -> bool:
    return bool(text) and text == plain(text) and "\n" not in text and not text.startswith(":")


def _fits(text: str) -> bool:
    """Return whether a value stands in brackets: plain, or a code span with closed brackets."""
    if not text.startswith("`"):
        return text == '""' or (set(text) <= PLAIN and " " not in text)
    depth = 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return False
    return depth == 0 and text.count("`") == _TICKS and len(text) <= _LONGEST


def _number(value: float) -> str:
    return str(int(value)) if value % 1 == 0 else repr(value)


def _depth(shape: Schema) -> int:
    """Count the levels of bullets below a value."""
    below = [each.shape for each in (*(shape.properties or ()), *(shape.one_of or ()))]
    below += [each for each in (shape.items, shape.values) if each is not None]
    return 1 + max(map(_depth, below), default=0) + (shape.one_of is not None)
