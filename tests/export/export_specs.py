"""Specs for these tests: the seed's two examples, one with everything, and random ones."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from toolmd._types.call_spec import Limits, Rule, Safety
from toolmd._types.diagnostic import Source
from toolmd._types.schema import Parameter, Schema
from toolmd._types.skill import (
    Argument,
    Expression,
    Output,
    SkillSpec,
    Step,
    Template,
    Use,
    WorkflowSection,
)
from toolmd._types.tool import Example, ToolSpec

NOWHERE = Source("tools_md/x.tool.md", 1)
TEXTS = Schema(types=("array",), items=Schema(types=("string",), description="Child name"))


def tool(*parameters: Parameter, name: str = "x", **fields: Any) -> ToolSpec:
    given = {
        "title": "X",
        "description": "Do it.",
        "version": "1.0.0",
        "category": "general",
        "returns": Schema(types=("object",), description="What came of it"),
        "source": NOWHERE,
    }
    return ToolSpec(name=name, parameters=parameters, **(given | fields))


def required(name: str, *types: str, **fields: Any) -> Parameter:
    return Parameter(name=name, shape=Schema(types=types, **fields), required=True)


def optional(name: str, *types: str, **fields: Any) -> Parameter:
    return Parameter(name=name, shape=Schema(types=types, **fields))


BOOK_APPOINTMENT = tool(
    Parameter(
        name="child_names",
        shape=replace(TEXTS, description="Names of children to schedule"),
        required=True,
    ),
    required("appointment_time", "string", description="ISO 8601 datetime for appointment"),
    required(
        "appointment_type",
        "string",
        description="Type of appointment",
        enum=("exam", "cleaning", "exam_and_cleaning", "emergency"),
    ),
    name="book_appointment",
    title="Book Appointment",
    description="Book a dental appointment. Only call after user confirms.",
    category="appointment",
    requires_context=("patient",),
)

GUARDED = tool(
    required("systolic", "integer", minimum=60, maximum=250, unit="mmHg"),
    required("diastolic", "integer", minimum=40, maximum=150, unit="mmHg"),
    optional("note", "string", min_length=1, max_length=500, sensitive=True, verbatim=True),
    optional("tags", "array", items=Schema(types=("string",)), unique=True, max_items=5),
    optional("arm", "string", enum=("left", "right"), has_default=True, default="left"),
    optional("page", "string", format="uri", has_example=True, example="https://example.org"),
    name="log_blood_pressure",
    title="Log Blood Pressure",
    description="Log a blood pressure reading.",
    when_to_use="When the user states both numbers.",
    rules=(Rule(expression="diastolic < systolic", message="Diastolic must be below systolic."),),
    safety=Safety(min_confidence=0.7, sensitivity="medium"),
    limits=Limits(timeout_s=10.0),
    idempotent="keyed",
    examples=(
        Example(title="A reading", arguments={"systolic": 120, "diastolic": 80}),
        Example(title="Swapped", arguments={"systolic": 80, "diastolic": 120}, error="rule"),
    ),
)

SCHEDULE = SkillSpec(
    name="schedule_appointment",
    title="Schedule Appointment",
    description="Complete workflow for scheduling an appointment.",
    version="1.0.0",
    category="scheduling",
    required_tools=("check_availability", "book_appointment"),
    parameters=(required("date", "string", description="Requested date"),),
    output=Output(message="Status message", error="Error message if scheduling failed"),
    workflow_sections=(
        WorkflowSection(
            name="",
            steps=(
                Step(
                    id="1",
                    title="Check availability",
                    text="on the day asked for.",
                    use=Use(
                        name="check_availability",
                        arguments=(
                            Argument(
                                name="date",
                                value=Template(parts=(Expression(cel="date"),), code=True),
                            ),
                        ),
                    ),
                    save_as="slots",
                ),
            ),
        ),
    ),
    source=Source("skills_md/schedule-appointment.skill.md", 1),
)

_texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=6)
_names = st.from_regex(r"[a-z][a-zA-Z0-9_]{0,5}", fullmatch=True)
_PATTERNS = {"^[a-z]{1,3}$": ("a", "abc"), "[0-9]+": ("1", "22"), "^a|b$": ("a", "b")}
_FORMATS = {"date": "2026-11-20", "email": "a@b.example", "uri": "https://example.org/"}


@st.composite
def shapes(draw: st.DrawFn, depth: int = 2) -> Schema:
    """A schema as an author could write it: fields only where they fit the type."""
    simple = ("string", "number", "integer", "boolean")
    types = draw(st.sampled_from(simple + (("array", "object") if depth else ())))
    fields: dict[str, Any] = {"types": (types,), "description": draw(_texts)}
    match types:
        case "string":
            fields |= draw(
                st.sampled_from(
                    [
                        {},
                        {"min_length": 2, "max_length": 4},
                        {"enum": ("left", "right")},
                        *({"pattern": p} for p in _PATTERNS),
                        *({"format": f} for f in _FORMATS),
                        {"types": ("string", "null")},
                        {"types": ("string", "integer"), "minimum": 1},
                        {"types": ("string", "array"), "items": Schema(types=("string",))},
                        {"types": ("string", "boolean"), "enum": ("on", True)},
                        {"types": (), "enum": ("on", 1, None)},
                        {"types": ()},
                    ]
                )
            )
        case "number" | "integer":
            fields |= draw(st.sampled_from([{}, {"minimum": 1, "maximum": 3}, {"enum": (1, 2)}]))
        case "array":
            items = draw(st.none() | shapes(depth - 1))
            fields |= draw(st.sampled_from([{}, {"min_items": 1, "max_items": 3}]))
            fields |= {"items": items}
        case "object":
            fields |= draw(st.sampled_from([{}, {"values": Schema(types=("integer",))}]))
            if not fields.get("values") and draw(st.booleans()):
                fields["properties"] = draw(parameters(depth - 1))
            elif not fields.get("values") and draw(st.booleans()):
                each = (shape_of(name, draw(parameters(depth - 1))) for name in ("card", "iban"))
                fields |= {"one_of": tuple(each), "discriminator": "kind"}
    return Schema(**fields)


def shape_of(name: str, others: tuple[Parameter, ...]) -> Parameter:
    """A shape of One Of that its `kind` tells apart."""
    kind = Parameter("kind", Schema(("string",), enum=(name,)), required=True)
    fields = (kind, *(each for each in others if each.name != "kind"))
    return Parameter(name, Schema(("object",), properties=fields))


@st.composite
def parameters(draw: st.DrawFn, depth: int = 2) -> tuple[Parameter, ...]:
    names = draw(st.lists(_names, unique=True, max_size=3))
    return tuple(
        Parameter(name=name, shape=draw(shapes(depth)), required=draw(st.booleans()))
        for name in names
    )


@st.composite
def specs(draw: st.DrawFn) -> ToolSpec:
    safety = draw(st.sampled_from([Safety(), Safety(min_confidence=0.7)]))
    unknown = draw(st.sampled_from(["reject", "ignore"]))
    return tool(*draw(parameters()), safety=safety, unknown_parameters=unknown)


def values(shape: Schema) -> st.SearchStrategy[Any]:
    """Every kind of value that the whole schema takes."""
    if shape.enum is not None:
        return st.sampled_from(shape.enum)
    if not shape.types:
        return st.none() | st.booleans() | st.integers() | _texts | st.lists(st.integers())
    return st.one_of(*(_of_type(shape, name) for name in shape.types))


def _of_type(shape: Schema, name: str) -> st.SearchStrategy[Any]:  # noqa: PLR0911  # a type each
    match name:
        case "string":
            if shape.pattern:
                return st.sampled_from(_PATTERNS[shape.pattern])
            if shape.format:
                return st.just(_FORMATS[shape.format])
            return st.text("äb😀", min_size=shape.min_length or 0, max_size=shape.max_length or 5)
        case "integer":
            return st.integers(shape.minimum, shape.maximum)
        case "number":
            return st.floats(shape.minimum, shape.maximum, allow_nan=False, allow_infinity=False)
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case "array":
            items = values(shape.items or Schema())
            return st.lists(items, min_size=shape.min_items or 0, max_size=shape.max_items or 3)
        case _:
            if shape.one_of is not None:
                return st.one_of(*(arguments(one.shape.properties or ()) for one in shape.one_of))
            if shape.properties is None:
                return st.dictionaries(_names, values(shape.values or Schema()), max_size=2)
            return arguments(shape.properties)


def arguments(fields: tuple[Parameter, ...]) -> st.SearchStrategy[dict[str, Any]]:
    """Every kind of object that these fields take."""
    return st.fixed_dictionaries(
        {p.name: values(p.shape) for p in fields if p.required},
        optional={p.name: values(p.shape) for p in fields if not p.required},
    )
