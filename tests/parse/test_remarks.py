"""Words beside a value: a remark is reported, and a value that may be two things is asked about."""

from dataclasses import asdict

import pytest
from tests.definitions import tool

from toolmd._parse import format_text, parse_tool

AMOUNT = "### amount\n\n- **Type**: number\n- **Required**: true"


def read(text):
    """Return the spec and the diagnostics of a tool."""
    return parse_tool(text, "act.tool.md")


def with_field(line, kind="string"):
    """Return a tool whose parameter has these lines."""
    return tool("act", f"### a\n\n- **Type**: {kind}\n- **Required**: true\n{line}")


def with_metadata(line):
    """Return a tool with one more line of Metadata."""
    return tool("act", AMOUNT).replace("- **Category**", f"{line}\n- **Category**")


def with_section(title, *lines):
    """Return a tool with a section of these bullets."""
    bullets = "\n".join(f"- {line}" for line in lines)
    return tool("act", AMOUNT, f"\n## {title}\n\n{bullets}\n")


def approved_by(who):
    """Return a tool whose calls somebody must approve."""
    return with_section("Approval", "**When**: always", f"**By**: {who}")


def keywords(words):
    """Return a tool that needs these words of the user."""
    return with_section("Safety", "**Explicit Intent**: yes", f"**Intent Keywords**: {words}")


def shape_of(spec):
    """Return the fields of the first parameter."""
    return asdict(spec.parameters[0].shape)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (with_metadata("- **Allowed Roles**: nurse (any)"), ("nurse",)),
        (with_metadata("- **Allowed Roles**: nurse (any), boss"), ("nurse", "boss")),
        (with_metadata("- **Allowed Roles**:\n  - nurse (any)\n  - boss"), ("nurse", "boss")),
        (with_metadata('- **Allowed Roles**: "nurse (any)", boss'), ("nurse (any)", "boss")),
        (with_metadata("- **Tags**: a, b (more)"), ("a", "b")),
        (approved_by("boss (or deputy)"), ("boss",)),
        (approved_by('`approver.user != "x"` (anybody else)'), 'approver.user != "x"'),
        (keywords("book (verb), reserve (verb)"), ("book", "reserve")),
        (with_field("- **Default**: abc (the first)"), "abc"),
        (with_field("- **Default**: `abc` (the first)"), "abc"),
        (with_field('- **Default**: "abc (d)"'), "abc (d)"),
        (with_field("- **Enum**: `a (b)`, c\n- **Default**: a (b)"), "a (b)"),
        (with_field("- **Enum**: a, b\n- **Default**: a (the best)"), "a"),
        (with_field("- **Example**: abc (a word)"), "abc"),
        (with_field("- **Unit**: kg (metric)"), "kg"),
        (with_field("- **Pattern**: `a+` (letters)"), "a+"),
        (with_field("- **Format**: date (ISO)"), "date"),
    ],
)
def test_a_remark_in_brackets_is_reported_and_no_part_of_the_value(text, value):
    spec, found = read(text)
    assert spec is not None, found
    said = shape_of(spec)
    values = [spec.allowed_roles, spec.tags, spec.category, spec.safety.intent_keywords]
    values += [one.by for one in spec.approvals]
    values += [said[key] for key in ("default", "example", "unit", "pattern", "format")]
    assert value in values
    quoted = any("(" in one for one in (value if isinstance(value, tuple) else [value]))
    assert any("is a remark and no part" in d.message for d in found) is not quoted, found
    again, _ = read(format_text(text, "act.tool.md") or "")
    assert again is not None
    assert again.hash == spec.hash


@pytest.mark.parametrize(
    ("line", "values", "remarks"),
    [
        ("a (one), b (two)", ("a", "b"), 2),
        ("a, b (two)", ("a", "b"), 1),
        ('a, "b (two)"', ("a", "b (two)"), 0),
        ("`a` (one), `b` (two)", ("a", "b"), None),
        ("\n  - a (one)\n  - b", ("a", "b"), 1),
    ],
)
def test_each_value_of_an_enum_may_have_a_remark(line, values, remarks):
    spec, found = read(with_field(f"- **Enum**: {line}"))
    assert spec is not None, found
    assert spec.parameters[0].shape.enum == values
    if remarks is not None:
        assert ["is a remark" in d.message for d in found] == [True] * remarks


@pytest.mark.parametrize(
    ("written", "read_as", "reported"),
    [
        ("YYYY-MM-DD", "date", ""),
        ("phone", "phone", "nothing checks the format 'phone'"),
        ("date, ISO", "date, ISO", "nothing checks"),
        ("dat-time", None, "'Format' can't be read from 'dat-time'"),
        ("emial", None, "'Format' can't be read"),
    ],
)
def test_a_format_is_checked_or_the_author_is_told(written, read_as, reported):
    spec, found = read(with_field(f"- **Format**: {written}"))
    assert (spec and spec.parameters[0].shape.format) == read_as
    assert any(reported in d.message for d in found) or not (reported or found)


@pytest.mark.parametrize(
    "who", ['caller.user != "x"', "amount < 5", "caller.user != approver.user", "amount == 1"]
)
def test_a_code_span_in_by_is_an_expression(who):
    spec, found = read(approved_by(f"`{who}`"))
    assert spec is not None, found
    assert spec.approvals[0].by == who
    assert "expression" in " ".join(d.help for d in read(approved_by("`boss`"))[1])
    spec, _ = read(approved_by("`boss`, `deputy`"))
    assert spec is not None
    assert spec.approvals[0].by == ("boss", "deputy")


@pytest.mark.parametrize(
    ("kind", "enum", "default", "value"),
    [
        ("string", "none, low", "none", "none"),
        ("string", "null, low", "null", "null"),
        ("string", "`none`, `low`", "`none`", "none"),
        ("array", "none, low", "none", ["none"]),
        ("string", "a, b", "none", None),
    ],
)
def test_a_default_that_the_enum_has_is_a_value(kind, enum, default, value):
    text = with_field(f"- **Items**: string\n- **Enum**: {enum}\n- **Default**: {default}", kind)
    text = text if kind == "array" else text.replace("- **Items**: string\n", "")
    spec, found = read(text)
    assert spec is not None, found
    shape = spec.parameters[0].shape
    assert (shape.default, shape.has_default) == (value, value is not None)
    again, _ = read(format_text(text, "act.tool.md") or "")
    assert again is not None
    assert again.hash == spec.hash


@pytest.mark.parametrize(
    "enum",
    ["a / b", "a/b", "`a` / `b`", "`a`/`b`", '"a" / "b"', "a / b, c", "a, b / c", "a /b | c"],
)
def test_an_enum_with_a_slash_between_values_is_asked_about(enum):
    spec, found = read(with_field(f"- **Enum**: {enum}"))
    assert spec is None
    assert [d.code.value for d in found] == ["invalid-enum"]


@pytest.mark.parametrize("enum", ["km/h, m/s", "`a / b`", '"a / b", c', "\n  - a / b\n  - c"])
def test_an_enum_with_a_slash_within_a_value_is_read(enum):
    spec, found = read(with_field(f"- **Enum**: {enum}"))
    assert spec is not None, found
    assert all("/" in value or value == "c" for value in spec.parameters[0].shape.enum)


@pytest.mark.parametrize("facts", ["user", "roles, via", "patient, User"])
def test_what_every_caller_has_is_no_name_of_a_fact(facts):
    spec, found = read(with_metadata(f"- **Requires Context**: {facts}"))
    assert spec is None
    assert "give the fact another name" in found[0].help
