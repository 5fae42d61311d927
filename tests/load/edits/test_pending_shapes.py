"""Parameters and results that an edit weakens at any depth stay live as a whole."""

from dataclasses import replace

import pytest
from policies import FULL, edited, spec_of, tool_of

from toolmd import Parameter, Schema
from toolmd._load.weakening import keep_stricter
from toolmd._types.call_spec import Rule

TEXT = Schema(types=("string",))
SHORT = replace(TEXT, max_length=5)
SECRET = replace(TEXT, sensitive=True)
EITHER = Schema(("array", "object"), items=SECRET, properties=(Parameter("a", TEXT),))
OLD = spec_of(FULL)
HARMLESS_RULES = FULL.replace(" || has(note)`", "`")


def fields(**shapes: Schema) -> Schema:
    """Give a closed object with optional fields."""
    return Schema(("object",), properties=tuple(Parameter(n, s) for n, s in shapes.items()))


def values(shape: Schema) -> Schema:
    return Schema(("object",), values=shape)


def items(shape: Schema) -> Schema:
    return Schema(("array",), items=shape)


ANY_OBJECT = Schema(("object",))


def stricter_argument(old: Schema, new: Schema) -> tuple[Schema, list[tuple[str, object, object]]]:
    """Give what stays live of an argument's shape, and what was found."""
    held = keep_stricter(tool_of(old), tool_of(new))
    found = [(one.place.removeprefix("Parameters: x: "), one.before, one.after)
             for one in held.weakened]  # fmt: skip
    return held.spec.parameters[0].shape, found


def stricter_result(old: Schema, new: Schema) -> tuple[Schema, list[tuple[str, object, object]]]:
    """Give what stays live of a result's shape, and what was found."""
    held = keep_stricter(tool_of(TEXT, old), tool_of(TEXT, new))
    found = [(one.place.removeprefix("Returns: "), one.before, one.after) for one in held.weakened]
    return held.spec.returns, found


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (fields(a=SHORT), ANY_OBJECT, [("Properties", ["a"], None)]),
        (fields(a=SHORT), values(TEXT),
         [("Properties", ["a"], None), ("Properties", "closed", "open")]),
        (fields(), ANY_OBJECT, [("Properties", [], None)]),
        # A new field is live; a field that is narrower is live as it is.
        (fields(a=TEXT), fields(a=SHORT, b=TEXT), []),
        (fields(a=SHORT), fields(a=TEXT, b=TEXT), [("a: Max Length", 5, None)]),
        (fields(a=SHORT), fields(b=TEXT), [("b: Max Length", 5, None)]),
        (fields(a=SHORT), fields(b=SHORT), []),
        # What every value had to be, each field must be now.
        (values(SHORT), fields(a=TEXT), [("a: Max Length", 5, None)]),
        (values(SHORT), fields(a=SHORT), []),
        (values(SHORT), ANY_OBJECT, [("Values", {"type": "string", "maxLength": 5}, None)]),
        (values(SHORT), values(TEXT), [("Values: Max Length", 5, None)]),
        (values(TEXT), values(SHORT), []),
        (ANY_OBJECT, values(SHORT), []),
        (ANY_OBJECT, fields(a=TEXT), []),
        (items(SHORT), items(TEXT), [("Items: Max Length", 5, None)]),
        (items(SHORT), Schema(("array",)), [("Items", {"type": "string", "maxLength": 5}, None)]),
        (Schema(("array",)), items(SHORT), []),
        (items(fields(a=SHORT)), items(fields(a=TEXT)), [("Items: a: Max Length", 5, None)]),
    ],
)  # fmt: skip
def test_an_argument_accepts_no_more_than_before(old, new, found) -> None:
    assert stricter_argument(old, new) == (old if found else new, found)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (fields(a=SECRET, b=TEXT), fields(a=TEXT, b=SHORT), [("a: Sensitive", True, False)]),
        (fields(a=SECRET, b=TEXT), fields(b=TEXT), [("a: Sensitive", True, None)]),
        (fields(a=SECRET, b=TEXT), ANY_OBJECT, [("a: Sensitive", True, None)]),
        (fields(a=fields(b=SECRET)), fields(a=fields(b=TEXT)), [("a: b: Sensitive", True, False)]),
        (items(SECRET), items(TEXT), [("Items: Sensitive", True, False)]),
        (items(SECRET), Schema(("array",)), [("Items: Sensitive", True, False)]),
        (values(SECRET), values(TEXT), [("Values: Sensitive", True, False)]),
        (values(SECRET), fields(a=TEXT), [("a: Sensitive", True, False)]),
        (SECRET, TEXT, [("Sensitive", True, False)]),
        (EITHER, replace(EITHER, items=TEXT), [("Items: Sensitive", True, False)]),
        # A result restricts nobody else.
        (replace(items(SHORT), sensitive=True), Schema(("array",)), [("Sensitive", True, False)]),
        (fields(a=SHORT), fields(b=TEXT), []),
        (fields(a=SHORT), ANY_OBJECT, []),
        (items(SHORT), items(TEXT), []),
        (fields(a=TEXT), fields(a=SECRET), []),
    ],
)  # fmt: skip
def test_a_hidden_part_of_a_result_stays_hidden(old, new, found) -> None:
    assert stricter_result(old, new) == (old if found else new, found)


def test_an_optional_parameter_may_be_removed() -> None:
    start, _, rest = HARMLESS_RULES.partition("### note")
    new = spec_of(start + "### days" + rest.partition("### days")[2])

    assert keep_stricter(spec_of(HARMLESS_RULES), new).weakened == ()


def test_a_required_parameter_is_not_replaced_by_an_optional_one() -> None:
    old = tool_of(SHORT)
    new = old.model_copy(update={"parameters": (Parameter("y", TEXT),)})

    held = keep_stricter(old, new)

    assert [(one.place, one.before, one.after) for one in held.weakened] == [
        ("Parameters: x", "required", None)
    ]
    assert held.spec.parameters == old.parameters


def test_a_restored_required_parameter_takes_no_name_of_another() -> None:
    old = tool_of(SHORT)
    both = (*old.parameters, Parameter("y", TEXT, required=True))
    new = old.model_copy(update={"parameters": both})

    assert keep_stricter(old, new).weakened == ()


def test_a_finding_says_that_a_parameter_is_not_required_any_more() -> None:
    line = "- **Required**: true\n- **Description**: How much"

    (found,) = keep_stricter(OLD, edited(line, "- **Description**: How much")).weakened

    assert (found.place, found.before, found.after) == ("Parameters: dose: Required", True, False)


def test_parameters_are_held_as_a_whole_and_other_parts_of_the_edit_are_live() -> None:
    old = tool_of(SHORT)
    parameters = (Parameter("x", TEXT), Parameter("y", TEXT))
    new = old.model_copy(update={"parameters": parameters, "requires_auth": True})

    held = keep_stricter(old, new).spec

    assert held.parameters == old.parameters
    assert held.requires_auth


def test_a_dropped_rule_stays_beside_the_new_rules() -> None:
    one, two = Rule("size(x) > 1", "Too short"), Rule("size(x) < 9", "Too long")
    old = tool_of(SHORT).model_copy(update={"rules": (one,)})
    new = old.model_copy(update={"rules": (two,)})

    assert keep_stricter(old, new).spec.rules == (two, one)
