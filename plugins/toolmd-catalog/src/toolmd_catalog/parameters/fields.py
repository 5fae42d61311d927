"""A parameter's fields where each has its own place: bullets below its name, columns of a table."""

from toolmd import Schema
from toolmd_catalog.layout.blocks import Item, Paragraph, Table
from toolmd_catalog.layout.page import Page
from toolmd_catalog.layout.tables import columns, rows_of
from toolmd_catalog.parameters.details import read_details
from toolmd_catalog.parameters.lines import read_line
from toolmd_catalog.parameters.needs import in_code, settle
from toolmd_catalog.phrases.clauses import read_clause, read_prose
from toolmd_catalog.phrases.found import ParameterFound
from toolmd_catalog.phrases.literals import boolean
from toolmd_catalog.words import bare, clean


def read_below(one: ParameterFound, item: Item) -> None:
    """Read what is nested below a parameter's bullet: its fields, or the fields of an object."""
    nested: list[ParameterFound] = []
    lines: list[str] = []
    for inner in item.items:
        text = " ".join(inner.mark.text.split())
        if _field(one, text):
            continue
        if text.endswith(":") and inner.items and not text.startswith("`"):
            read_below(one, inner)  # `Each row contains:`
            continue
        child = read_line(text, inner.line)
        if child is not None and (child.read or child.marked):
            read_below(child, inner)
            nested.append(child)
            lines.append(text)
        elif not read_clause(one, clean(text)):
            one.words.append(clean(text).rstrip("."))
    for block in item.blocks:
        if isinstance(block, Paragraph):
            one.words.append(" ".join(clean(block.mark.text).split()))
    if nested:
        _nest(one, nested, lines)


def _nest(one: ParameterFound, nested: list[ParameterFound], lines: list[str]) -> None:
    settle(nested, code=in_code(nested, lines))
    noted: list[str] = []
    fields = tuple(
        child.parameter(lambda path, text, _line: noted.append(f"{path}: {text}"))
        for child in nested
    )
    one.guesses += noted
    if one.said.get("types") == ("array",):
        one.said["items"] = Schema(types=("object",), properties=fields)
    else:
        one.said["types"] = ("object",)
        one.said["properties"] = fields


_FIELDS = {
    "type": "",
    "description": "",
    "required": "",
    "optional": "",
    "default": "default ",
    "enum": "enum ",
    "allowed values": "enum ",
    "values": "enum ",
    "options": "enum ",
    "minimum": "min ",
    "min": "min ",
    "maximum": "max ",
    "max": "max ",
    "min length": "min length ",
    "max length": "max length ",
    "range": "",
    "format": "",
    "pattern": "pattern ",
    "unit": "in ",
    "constraints": "",
}


def _field(one: ParameterFound, text: str) -> bool:
    """Read `Type: string` below a parameter."""
    label, sign, value = clean(text).partition(":")
    key = " ".join(label.strip("`* ").lower().replace("_", " ").split())
    if not sign or key not in _FIELDS:
        return False
    apply_field(one, key, value.strip())
    return True


def apply_field(one: ParameterFound, key: str, value: str) -> None:
    """Read one named field of a parameter, as nested bullets and columns of tables give it."""
    if not value or value in {"-", "–", "—"}:  # noqa: RUF001
        return
    if key in {"required", "optional"}:
        said = boolean(value)
        if said is not None:
            one.need = said if key == "required" else not said
        elif not read_clause(one, value):
            one.words.append(f"{key}: {value}")
            one.guesses.append(f"{key} is {value!r}: it can't be read")
    elif key == "description":
        one.words.append(value.rstrip("."))
        read_prose(one, value)
    elif key == "default":
        one.default = None if value.lower() in {"none", "null", "-"} else bare(value)
    elif key in {"type", "range", "format", "constraints"}:
        read_details(one, value)
    else:
        lead = _FIELDS[key]
        if not read_clause(one, f"{lead}{value}" if lead.strip() not in value.lower() else value):
            one.words.append(value)
    one.read = True


def read_table(page: Page, table: Table) -> list[ParameterFound]:
    """Read a table with a row for each parameter; the need of some is left open."""
    head, rows = rows_of(page, table)
    held = columns(head)
    if not held:
        return []
    made: list[ParameterFound] = []
    for line, row in rows:
        one = read_line(clean(row[0]), line) or _plain(clean(row[0]), line)
        if one is None:
            continue
        for column, label, cell in zip(held[1:], head[1:], row[1:], strict=False):
            _cell(one, column, clean(label).lower(), clean(cell))
        made.append(one)
    return made


def _plain(text: str, line: int) -> ParameterFound | None:
    return read_line(f"`{bare(text)}`", line)


def _cell(one: ParameterFound, column: str, label: str, text: str) -> None:
    if column == "need":
        apply_field(one, "optional" if label.startswith("optional") else "required", text)
    elif column == "enum":
        apply_field(one, "enum", text)
    elif column == "type":
        apply_field(one, "type", text)
    elif column == "default":
        apply_field(one, "default", text)
    elif column == "description":
        apply_field(one, "description", text)
    elif column == "rules":
        apply_field(one, "constraints", text)
    elif column == "unit":
        apply_field(one, "unit", text)
