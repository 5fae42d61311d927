"""Tables, also those whose cells were broken by a `|` of their own, and those that are text."""

import re

from toolmd_catalog.layout.blocks import Table
from toolmd_catalog.layout.labels import role_of
from toolmd_catalog.layout.page import Mark, Page
from toolmd_catalog.words import clean, fold, quoted, unescaped

Cells = list[str]
_COLUMNS = {
    "name": "parameter param name field argument arg input property key option variable",
    "type": "type datatype kind schema",
    "need": "required optional mandatory req need presence",
    "default": "default defaultvalue defaults",
    "description": "description desc details meaning notes note purpose explanation comment about",
    "enum": "enum values allowedvalues options choices allowed validvalues possiblevalues",
    "rules": "constraints rules validation range limits limit constraint format bounds",
    "example": "example examples sample",
    "unit": "unit units",
}
_COLUMN = {word: column for column, listed in _COLUMNS.items() for word in listed.split()}
_OPEN, _CLOSE = "([{", ")]}"


def columns(head: list[str]) -> list[str]:
    """Return the role of each column of a table of parameters; empty for another table."""
    if not head:
        return []
    found = [_COLUMN.get(fold(clean(cell)), "") for cell in head]
    named = found[0] == "name" and len(found) > 1
    telling = {"type", "need", "default"} & set(found[1:])
    param = fold(clean(head[0])) in {"parameter", "param", "argument", "arg", "field"}
    return found if named and (telling or (param and "description" in found)) else []


def rows_of(page: Page, table: Table) -> tuple[list[str], list[tuple[int, Cells]]]:
    """Return a table's head and rows; a row that its own `|` broke is cut again."""
    head = [cell.text for cell in table.head]
    while head and not head[-1].strip():
        head.pop()  # columns that nobody named: a broken row made them
    line = table.head[0].line if table.head else 1
    rows: list[tuple[int, Cells]] = []
    for at, cells in enumerate(table.rows):
        number = next((cell.line for cell in cells if cell.text), line + 2 + at)
        source = page.lines[number - 1] if 0 < number <= len(page.lines) else ""
        whole = cut(source) if "|" in source else [cell.text for cell in cells]
        rows.append((number, joined(whole, len(head))))
    return head, rows


def cut(source: str) -> Cells:
    """Cut a line at each `|` that is not escaped and stands in no code span."""
    text = source.strip()
    text = text.removeprefix("|")
    cells, start, at = [], 0, 0
    while at < len(text):
        if text[at] == "\\":
            at += 2
            continue
        if text[at] == "`" and (end := quoted(text, at)) > at:
            at = end
            continue
        if text[at] == "|":
            cells.append(text[start:at])
            start = at + 1
        at += 1
    if text[start:].strip():
        cells.append(text[start:])
    return [cell.strip().replace("\\|", "|") for cell in cells]


def joined(cells: Cells, many: int) -> Cells:
    """Join the pieces of cells that a `|` of their own broke, until they are as many as columns."""
    made = list(cells)
    at = 0
    while len(made) > many and at < len(made) - 1:
        if _open(made[at]) or _alike(made[at], made[at + 1]):
            made[at : at + 2] = [f"{made[at]} | {made[at + 1]}"]
        else:
            at += 1
    while len(made) > many and not made[-1]:
        made.pop()
    while len(made) > many > 0:
        made[-2:] = [f"{made[-2]} | {made[-1]}"]
    return made + [""] * (many - len(made))


def _open(cell: str) -> bool:
    """Return whether a bracket or a code span is open at the end of a cell."""
    plain = unescaped(cell)
    return plain.count("`") % 2 == 1 or any(
        plain.count(o) > plain.count(c) for o, c in zip(_OPEN, _CLOSE, strict=True)
    )


def _alike(one: str, two: str) -> bool:
    """Return whether two pieces are quoted values of one list."""
    return one[-1:] in "\"'" and two[:1] in "\"'" and bool(one) and bool(two)


def pseudo_rows(mark: Mark) -> list[tuple[int, Cells]]:
    """Return the rows of a paragraph that would be a table but for escaped or headless `|`."""
    lines = mark.text.split("\n")
    rows: list[tuple[int, Cells]] = []
    for number, line in enumerate(lines, mark.line):
        plain = line.strip()
        if not re.match(r"\\?\|", plain):
            return []
        cells = cut(re.sub(r"^\\\|", "|", plain))
        if len(cells) < 2:  # noqa: PLR2004 - then every pipe was escaped
            cells = [cell.strip() for cell in plain.strip("\\| ").split("\\|")]
        if len(cells) > 1 and not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
            rows.append((number, joined(cells, 2)))
    return rows


def is_aspects(rows: list[tuple[int, Cells]]) -> bool:
    """Return whether a table's rows are labels and their texts: `| Purpose | … |`."""
    known = sum(bool(role_of(row[0])) for _, row in rows)
    return known > 0 and known * 2 >= len(rows)
