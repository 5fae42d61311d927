"""Format a definition's canonical JSON as a page for the terminal."""

import json
from typing import Any

from toolmd._cli.terminal.screen import paint
from toolmd._types.call_spec import Batch, Rate
from toolmd._types.schema import KEYWORDS


def detail(described: dict[str, Any]) -> str:
    """Return the page: description, parameters, returns, restrictions, implementation."""
    kind = described["kind"]
    head = paint(described["name"], "bold")
    if kind == "prompt":
        head += " (prompt)"
    else:
        head += f" {described['version']} ({kind}, {described['category']})"
    parts = [head, described["description"]]
    parts += [described[key] for key in ("when_to_use", "notes") if key in described]
    takes = {"tool": "Parameters", "prompt": "Arguments"}.get(kind, "Inputs")
    parts.append(_section(takes, fields(described["input_schema"]) or ["none"]))
    if returns := described.get("output_schema"):
        parts.append(
            _section(
                "Returns",
                [_line("", returns).strip(), *_shapes(returns, "  "), *fields(returns, "  ")],
            )
        )
    for key in ("required_tools", "required_skills"):
        if key in described:
            parts.append(_section(_title(key), described[key]))
    if steps := described.get("steps"):
        parts.append(_section("Steps", [_step(step) for step in steps]))
    if rules := described.get("rules"):
        parts.append(_section("Rules", [f"{r['expression']}: {r['message']}" for r in rules]))
    for key in ("safety", "limits"):
        if key in described:
            told = described[key].items()
            parts.append(
                _section(_title(key), [f"{_title(k)}: {_measured(k, v)}" for k, v in told])
            )
    if examples := described.get("examples"):
        told = [f"{e['title']}: {json.dumps(e['arguments'], ensure_ascii=False)}" for e in examples]
        parts.append(_section("Examples", told))
    if text := described.get("text"):
        parts.append(_section("Prompt", text.split("\n")))
    parts.append(_section("Source", _source(described)))
    return "\n\n".join(parts)


def fields(schema: dict[str, Any], indent: str = "") -> list[str]:
    """Return a line for each property of an object's schema, nested ones indented."""
    required = schema.get("required", ())
    lines = []
    for name, field in schema.get("properties", {}).items():
        lines.append(indent + _line(name if name in required else f"{name}?", field))
        lines += [*_shapes(field, indent + "  "), *fields(field, indent + "  ")]
        if isinstance(items := field.get("items"), dict):
            lines += [*_shapes(items, indent + "  "), *fields(items, indent + "  ")]
    return lines


def _shapes(schema: dict[str, Any], indent: str) -> list[str]:
    """Return the shapes of One Of, each with a line for its fields."""
    lines = []
    for one in schema.get("oneOf", ()):
        if "properties" in one:
            about = f"  {one['description']}" if "description" in one else ""
            lines += [f"{indent}shape {one['title']}{about}", *fields(one, indent + "  ")]
    return lines


_FLAGS = {row.word: row.name.lower() for row in KEYWORDS.values() if row.kind == "boolean"}
_SHOWN = {
    "enum": "one of",
    "default": "default",
    **{
        row.word: row.name.lower()
        for row in KEYWORDS.values()
        if row.fits and row.kind != "boolean"
    },
}


def _line(name: str, field: dict[str, Any]) -> str:
    limits = [field["x-unit"]] if "x-unit" in field else []
    if "oneOf" in field:
        limits.append("exactly one of its shapes")
    if told := field.get("discriminator"):
        limits.append(f"told apart by {told['propertyName']}")
    limits += [f"{word} {_plain(field[key])}" for key, word in _SHOWN.items() if key in field]
    limits += [word for key, word in _FLAGS.items() if field.get(key)]
    items = field.get("items", {})
    limits += [f"each {word} {_plain(items[key])}" for key, word in _SHOWN.items() if key in items]
    about = f"{name}  {paint(_type(field), 'cyan')}".strip()
    told = f" ({'; '.join(limits)})" if limits else ""
    return about + told + (f"  {field['description']}" if "description" in field else "")


def _type(field: dict[str, Any]) -> str:
    types = field.get("type", "anything")
    named = types if isinstance(types, list) else [types]
    items = field.get("items")
    return " | ".join(f"array of {_type(items)}" if n == "array" and items else n for n in named)


def _step(step: dict[str, Any]) -> str:
    section = f"[{step['section']}] " if "section" in step else ""
    number = step["id"].rpartition("/")[2]
    actions = [f"{key} {step[key]}" for key in ("use", "choose") if key in step]
    does = f"  {paint(', '.join(actions), 'dim')}" if actions else ""
    return f"{section}{number}. {step['title']}{does}"


def _source(described: dict[str, Any]) -> list[str]:
    source, behind = described["source"], described.get("implementation")
    runs = [f"runs: {behind['kind']} {behind.get('target', '')}".strip()] if behind else []
    return [f"{source['path']}:{source['line']}", *runs, f"hash: {described['hash']}"]


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([paint(title, "bold"), *(f"  {line}" for line in lines)])


def _title(key: str) -> str:
    return key.removesuffix("_s").replace("_", " ").capitalize()


def _measured(key: str, value: Any) -> str:
    """Format a duration in seconds and a size in bytes."""
    if key.endswith("_s"):
        return f"{value:g} s"
    if key == "max_bytes":
        return f"{value} bytes"
    if key == "rate":
        return str(Rate(**value))
    if key == "max_batch":
        return str(Batch(**value))
    return _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_plain(item) for item in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
