"""Implemented By names a module and a function; any other value is an error with its remedy."""

import pytest

from toolmd import parse_tool
from toolmd._parse import format_text

TOOL = """# Book

Books a table.

## Metadata

- **Name**: book
- **Version**: 1.0.0
- **Category**: table
{}

## Parameters

None

## Returns

- **Type**: object
- **Description**: What was booked
"""


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("- **Implemented By**: clinic:book", "clinic:book"),
        ("- implemented_by: `clinic:book`", "clinic:book"),
        ("- **Implemented by:** **clinic:book**", "clinic:book"),
        ("- **Implemented In**: clinic:book", "clinic:book"),
        ("- **Implemented By**: front\\_desk:book\\_table", "front_desk:book_table"),
        ("- **Implemented By**: front-desk:book", "front_desk:book"),
        ("- **Implemented By**: `_desk:_book_`", "_desk:_book_"),
        ("- **Implemented By**: acme.tables.desk:book", "acme.tables.desk:book"),
        ("- **Implemented By**: HTTP get /tables/{table_id}", "http GET /tables/{table_id}"),
        ("- **Implemented By**: `http POST desk:/tables/{id}`", "http POST desk:/tables/{id}"),
    ],
)
def test_a_module_and_a_function_are_read_and_written_back(written: str, read: str) -> None:
    spec, diagnostics = parse_tool(TOOL.format(written), "book.tool.md")

    assert spec is not None
    assert (spec.implemented_by, spec.canonical["implemented_by"]) == (read, read)
    assert diagnostics == ()
    formatted = format_text(TOOL.format(written), "book.tool.md")
    assert formatted is not None
    again, _ = parse_tool(formatted, "book.tool.md")
    assert again is not None
    assert again.hash == spec.hash
    assert format_text(formatted, "book.tool.md") == formatted


def test_front_matter_names_the_function_too() -> None:
    text = "---\nimplemented_by: clinic:book\n---\n" + TOOL.format("")

    spec, _ = parse_tool(text, "book.tool.md")

    assert spec is not None
    assert spec.implemented_by == "clinic:book"


def test_the_place_of_the_function_is_part_of_the_hash_only_where_it_is_written() -> None:
    without, _ = parse_tool(TOOL.format(""), "book.tool.md")
    named, _ = parse_tool(TOOL.format("- **Implemented By**: clinic:book"), "book.tool.md")

    assert without is not None
    assert named is not None
    assert "implemented_by" not in without.canonical
    assert without.hash != named.hash


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        ("", "write `module:function`"),
        ("none", "write `module:function`"),
        ("clinic", "write `module:function`"),
        ("clinic.book", "write `module:function`"),
        ("clinic:", "write `module:function`"),
        (":book", "write `module:function`"),
        ("clinic:book:now", "write `module:function`"),
        ("clinic:Desk.book", "write `module:function`"),
        ("clinic:book()", "write `module:function`"),
        ("clinic:book, clinic:cancel", "write `module:function`"),
        ("class:book", "write `module:function`"),
        ("a..b:book", "write `module:function`"),
        (f"{'a' * 300}:book", "write `module:function`"),
        ("clinic.py:book", "`clinic:book`"),
        ("../clinic:book", "not a path"),
        ("..clinic:book", "not a path"),
        ("sub/clinic:book", "not a path"),
        ("/etc/clinic:book", "not a path"),
        ("C:\\clinic:book", "write `module:function`"),
        ("mcp clinic", "SERVER is the name of a table"),
        ("http POST tables", "`http METHOD PATH`"),
        ("http GET /tables/../admin", "has no `?`, `#` or `..`"),
        ("http LIST /tables", "METHOD is one of GET"),
    ],
)
def test_any_other_value_is_an_error_with_its_remedy(value: str, remedy: str) -> None:
    text = TOOL.format(f"- **Implemented By**: {value}")

    spec, (found,) = parse_tool(text, "book.tool.md")

    assert spec is None
    assert (found.code, found.span.line) == ("unreadable-value", 10)
    assert remedy in found.help


def test_a_near_miss_of_the_field_is_repaired_with_a_fix() -> None:
    spec, (found,) = parse_tool(TOOL.format("- **Implementd By**: clinic:book"), "book.tool.md")

    assert spec is not None
    assert spec.implemented_by == "clinic:book"
    assert found.code == "misspelt-field"
    assert [edit.text for edit in found.fix] == ["Implemented By"]


def test_two_places_of_one_function_are_an_error() -> None:
    twice = "- **Implemented By**: clinic:book\n- **Implemented By**: desk:book"

    spec, (found,) = parse_tool(TOOL.format(twice), "book.tool.md")

    assert spec is None
    assert found.code == "duplicate-field"
