"""Export the tools as text for a system prompt, without a dialect's syntax."""

from typing import Any

from toolmd._export.exported import Loss
from toolmd._export.function import CONFIDENCE, SURE, Function
from toolmd._export.names import FUNCTION
from toolmd._export.plain import compact, in_words
from toolmd._types.model_view import seen_shape
from toolmd._types.schema import KEYWORDS
from toolmd._types.tool import ToolSpec

RULE = FUNCTION
_ORDER = ("enum", *(row.word for row in KEYWORDS.values() if row.fits), "default", "examples")


def item(function: Function, _losses: list[Loss]) -> str:
    """Return one tool's paragraph: its purpose, arguments, result and an example."""
    parts = [f"## {function.name}", function.description]
    if lines := argument_lines(function.parameters):
        parts.append("Arguments:\n" + "\n".join(lines))
    else:
        parts.append("No arguments.")
    spec = function.spec
    if isinstance(spec, ToolSpec):
        returned = seen_shape(spec.returns).json_schema
        parts.append(f"Returns {_type(returned)}: {returned.get('description', '')}".rstrip(": "))
        parts += [
            f"Example ({example.title}): {compact(_stated(function, example.arguments))}"
            for example in spec.examples
            if example.error is None
        ]
    return "\n\n".join(parts)


def document(items: list[str]) -> str:
    """Return the text of all tools."""
    return "# Tools\n\n" + "\n\n".join(items) + "\n" if items else "# Tools\n\nNone.\n"


def argument_lines(parameters: dict[str, Any]) -> list[str]:
    """Return a bullet for each argument, with nested bullets for nested fields."""
    return _below(parameters, "")


def _stated(function: Function, arguments: dict[str, Any]) -> dict[str, Any]:
    return (
        {**arguments, CONFIDENCE: SURE}
        if CONFIDENCE in function.parameters["properties"]
        else arguments
    )


def _lines(name: str, schema: dict[str, Any], indent: str, *, required: bool) -> list[str]:
    need = "required" if required else "optional"
    line = f"{indent}- `{name}` ({_type(schema)}, {need})"
    if said := " ".join(_said(schema)):
        line += f": {said}"
    return [line, *_below(schema, indent + "  ")]


def _below(schema: dict[str, Any], indent: str) -> list[str]:
    required = schema.get("required", ())
    fields = schema.get("properties", {})
    lines = [
        line for k, v in fields.items() for line in _lines(k, v, indent, required=k in required)
    ]
    for one in schema.get("oneOf", ()):
        if "properties" in one:
            said = " ".join(_said(one))
            lines.append(f"{indent}- shape `{one['title']}`" + (f": {said}" if said else ""))
            lines += _below(one, indent + "  ")
    items = schema.get("items")
    if items and ("oneOf" in items or "properties" in items or "items" in items or _said(items)):
        said = " ".join(_said(items))
        each = f"{indent}- each ({_type(items)})" + (f": {said}" if said else "")
        lines += [each, *_below(items, indent + "  ")]
    return lines


def _said(schema: dict[str, Any]) -> list[str]:
    words = []
    if description := schema.get("description", ""):
        words.append(description if description[-1] in ".!?:;" else f"{description}.")
    return words + [in_words(keyword, schema[keyword]) for keyword in _ORDER if keyword in schema]


def _type(schema: dict[str, Any]) -> str:
    types = schema.get("type", "anything")
    named = types if isinstance(types, list) else [types]
    items = schema.get("items")
    shown = [f"array of {_type(items)}" if n == "array" and items else n for n in named]
    told = ", exactly one of these shapes" if "oneOf" in schema else ""
    return " or ".join(shown) + told
