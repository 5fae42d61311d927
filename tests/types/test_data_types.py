"""The frozen, closed data types, and the canonical JSON of a step."""

from dataclasses import FrozenInstanceError
from typing import get_args

import pytest
from pydantic import ValidationError
from whole_specs import SAID, SKILL, TOOL, code, text

from toolmd._types.call_spec import Batch, Rate, seconds
from toolmd._types.diagnostic import Position
from toolmd._types.field import JsonType
from toolmd._types.schema import JSON_TYPES, Parameter, Schema
from toolmd._types.skill import Argument, Expression, Step, Use, Way, WorkflowSection, step_json

NOUNS = [TOOL, TOOL.safety, TOOL.parameters[0], TOOL.returns, SKILL.workflow_sections[0].steps[0]]


@pytest.mark.parametrize("noun", NOUNS, ids=lambda noun: type(noun).__name__)
def test_an_instance_is_frozen_and_has_no_other_field(noun):
    fields = getattr(type(noun), "model_fields", None) or type(noun).__dataclass_fields__
    for name in fields:
        with pytest.raises((ValidationError, FrozenInstanceError)):
            setattr(noun, name, getattr(noun, name))
    said = {name: getattr(noun, name) for name in fields}
    assert type(noun)(**said) == noun
    with pytest.raises((ValidationError, TypeError), match="nonsense"):
        type(noun)(**said, nonsense=1)


def test_the_types_of_json_are_named_once():
    assert get_args(JsonType) == JSON_TYPES


DOING = {
    "wait": 5.0,
    "use": Use(name="book"),
    "choose": Expression(cel="a"),
    "ask": SAID,
    "returns": (),
    "stop": SAID,
}


@pytest.mark.parametrize("field", DOING)
def test_a_step_that_does_anything_makes_its_skill_executable(field):
    prose = Step(id="1", title="Read")
    step = Step(id="2", title="Do", **{field: DOING[field]})
    assert (prose.acts, step.acts) == (False, True)
    fields = {name: getattr(SKILL, name) for name in type(SKILL).model_fields}
    for steps, executable in (((prose,), False), ((prose, step), True), ((), False)):
        fields["workflow_sections"] = (WorkflowSection(name="", steps=steps),)
        assert type(SKILL)(**fields).executable is executable


def test_a_value_is_an_expression_where_it_is_one_code_span():
    assert code("a").expression == Expression(cel="a", line=9, column=4)
    assert text(Expression(cel="a")).expression is None
    assert text("a").expression is None
    assert SAID.expression is None


def test_a_position_outside_a_file_is_line_0():
    made = Expression(cel="a"), Argument(name="a", value=SAID), Step(id="1", title="")
    assert [part.line for part in (*made, WorkflowSection(name="", steps=()))] == [0] * 4
    assert made[0].column == 0


def test_a_jump_without_a_target_names_no_section():
    assert Way(kind="stop").target == ""


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize("idempotent", ["yes", "keyed", "no"])
def test_a_tool_without_effects_may_run_again(read_only, idempotent):
    fields = {name: getattr(TOOL, name) for name in type(TOOL).model_fields}
    spec = type(TOOL)(**fields | {"read_only": read_only, "idempotent": idempotent})
    assert spec.is_repeatable is (read_only or idempotent != "no")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, {}),
        ({"use": Use(name="book")}, {"use": "book"}),
        ({"undo": Use(name="drop")}, {"undo": {"use": "drop"}}),
        ({"on_error": {"then": Way(kind="continue")}}, {"on_error": {"then": "continue"}}),
        ({"if_no": Way(kind="stop", text=text("No."))}, {"if_no": 'stop "No."'}),
        ({"returns": ()}, {"return": True}),
        ({"returns": (Argument(name="a", value=text("b")),)}, {"return": {"a": "b"}}),
        ({"timeout_s": 0.0}, {"timeout_s": 0.0}),
        ({"wait": 0.5}, {"wait_s": 0.5}),
        ({"wait": Expression(cel="day")}, {"wait_until": "day"}),
    ],
)
def test_a_step_contains_its_action_and_nothing_else(fields, said):
    step = Step(id="1", title="Do", **fields)
    assert step_json(step) == {"id": "1", "title": "Do", **said}
    assert step_json(step, "Later") == {"id": "1", "section": "Later", "title": "Do", **said}
    moved = Step(id="1", title="Do", line=9, places={"use": Position(9, 5, 8)}, **fields)
    assert step_json(moved) == step_json(step)


def test_a_limit_is_text_as_a_file_has_it():
    rates = {(3, 1): "3/s", (3, 60): "3/min", (3, 90): "3 per 90s"}
    assert {pair: str(Rate(*pair)) for pair in rates} == rates
    assert str(Batch("texts", 256)) == "texts by 256"
    durations = {1: "1s", 10.0: "10s", 0.5: "500ms", 1.5: "1500ms", 0: "0ms"}
    assert {value: seconds(value) for value in durations} == durations


def test_a_schema_knows_its_direct_shapes_and_those_of_one_of():
    text, number = Schema(types=("string",)), Schema(types=("number",))
    kinds = [Schema(types=("string",), enum=(name,)) for name in ("card", "cash")]
    card = Schema(properties=(Parameter("by", kinds[0]), Parameter("digits", text)))
    cash = Schema(properties=(Parameter("by", kinds[1]), Parameter("coins", number)), values=text)
    bare = Schema()
    each = (Parameter("card", card), Parameter("cash", cash), Parameter("bare", bare))
    paid = Schema(one_of=each, discriminator="by", items=number)

    assert paid.inner == (card, cash, bare, number)
    assert card.inner == (kinds[0], text)
    assert bare.inner == ()
    assert (paid.objects, card.objects) == ((card, cash, bare), (card,))
    assert paid.tags == ("card", "cash")
    assert Schema(one_of=(Parameter("a", card),), discriminator="digits").tags == (None,)
    assert paid.of_field("by") == tuple(kinds)
    assert paid.of_field("digits") == (text, text)
    assert paid.of_field("coins") == (number,)
    assert bare.of_field("coins") == ()


@pytest.mark.parametrize("what", ["sensitive", "verbatim"])
def test_a_shape_contains_its_nested_shapes(what):
    plain, marked = Schema(types=("string",)), Schema(**{what: True})
    deep = Schema(items=Schema(values=marked))
    fields = tuple(Parameter(name=name, shape=plain) for name in "ab")
    held = [
        marked,
        Schema(items=marked),
        Schema(values=marked),
        Schema(properties=(*fields, Parameter(name="c", shape=deep))),
        Schema(properties=fields, values=marked),
        deep,
    ]
    free = [plain, Schema(), Schema(items=plain, values=plain), Schema(properties=fields)]
    assert [getattr(shape, f"holds_{what}") for shape in held] == [True] * 6
    assert [getattr(shape, f"holds_{what}") for shape in free] == [False] * 4
    other = {"sensitive": "verbatim", "verbatim": "sensitive"}[what]
    assert not any(getattr(shape, f"holds_{other}") for shape in held)


def test_an_argument_has_the_positions_of_its_name_and_value():
    said = Argument(name="date", value=SAID, line=7, column=5, value_column=11)
    assert (said.place, said.value_place) == (Position(7, 5, 9), Position(7, 11, 12))
    unplaced = Argument(name="date", value=SAID)
    assert (unplaced.place, unplaced.value_place) == (None, None)
    first = Argument(name="date", value=SAID, line=1)
    assert (first.place, first.value_place) == (Position(1, 1, 5), Position(1, 1, 2))


def test_a_shape_of_one_of_may_also_be_of_other_types():
    each = (Parameter("card", Schema(types=("object",))),)
    shapes = [
        Schema(types=types, one_of=each).json_schema["oneOf"]
        for types in (("object",), ("object", "null"), ("object", "null", "string"))
    ]
    (card,) = shapes[0]
    assert shapes[1:] == [[card, {"type": "null"}], [card, {"type": ["null", "string"]}]]
