"""Map a table's columns to the fields of a parameter, under any common header."""

from toolmd._parse.blocks.block import Table
from toolmd._parse.fields.parameter import PARAMETER
from toolmd._parse.words.keys import fold, plain

_COLUMNS = {
    **dict.fromkeys(
        (
            "name",
            "parameter",
            "param",
            "field",
            "argument",
            "arg",
            "property",
            "key",
            "input",
            "variable",
        ),
        "Name",
    ),
    **dict.fromkeys(("type", "datatype", "schema", "kind"), "Type"),
    **dict.fromkeys(
        ("required", "req", "mandatory", "need", "needed", "requiredoptional"), "Required"
    ),
    **dict.fromkeys(
        ("description", "desc", "details", "meaning", "purpose", "explanation", "notes", "note"),
        "Description",
    ),
}


def columns_of(table: Table) -> list[str] | None:
    """Return the field of each column of a table; None if no column is a name."""
    columns = []
    for cell in table.head:
        title = plain(cell.text)
        known = PARAMETER.field(title) or PARAMETER.translated(title)
        columns.append(_COLUMNS.get(fold(title)) or (known.name if known else title))
    if "Name" not in columns and len(columns) > 1 and {"Type", "Description"} & set(columns[1:]):
        columns[0] = "Name"
    return columns if "Name" in columns else None
