"""A call with a One Of: rules, Verbatim values, records and Python see the chosen shape."""

from dataclasses import dataclass
from typing import Any

from toolmd import parse_skill
from toolmd._load.fits import mismatch, unwritable
from toolmd._parse import parse_tool
from toolmd._skills.text import shape_for, value_of
from toolmd._types.schema import Schema
from toolmd._types.skill import Argument, Template, Values
from toolmd.testing import memory_workspace

PAY = """\
# Pay

Pay a bill.

## Metadata

- **Name**: pay
- **Version**: 1.0.0
- **Category**: shop

## Parameters

### payment

- **Type**: object
- **Required**: true
- **One Of**:
  - **card**:
    - **Properties**:
      - **kind** (string, required)
      - **number** (string, required, sensitive)
      - **months** (integer)
  - **iban**:
    - **Properties**:
      - **kind** (string, required)
      - **iban** (string, required, verbatim)
- **Discriminator**: kind

## Returns

- **Type**: object
- **One Of**:
  - **done**: { receipt: string }
  - **open**: { due: string, months: integer }

## Rules

- `!has(payment.months) || payment.months <= 12`: Pay in at most 12 months.
"""
SEEN: list[Any] = []


def pay(payment: dict[str, Any]) -> dict[str, Any]:
    """Return the receipt."""
    SEEN.append(payment)
    return {"receipt": "R-1", "message": "Paid"}


def call(payment: Any, message: str = "") -> Any:
    with memory_workspace({"pay.tool.md": PAY}, [pay]) as workspace:
        assert not workspace.diagnostics
        return workspace.call_sync("pay", {"payment": payment}, message=message)


def test_a_call_runs_with_the_chosen_shape() -> None:
    result = call({"kind": "card", "number": "4111", "months": 3})

    assert (result.outcome, result.data, result.message) == ("ok", {"receipt": "R-1"}, "Paid")
    assert SEEN[-1] == {"kind": "card", "number": "4111", "months": 3}
    assert result.notes == ()


def test_a_rule_reads_a_field_of_a_shape() -> None:
    result = call({"kind": "card", "number": "4111", "months": 13})

    assert result.error.code == "invalid_arguments"
    assert "at most 12 months" in result.error.message


def test_the_users_words_are_required_only_by_the_chosen_shape() -> None:
    assert call({"kind": "card", "number": "4111"}).outcome == "ok"
    assert call({"kind": "iban", "iban": "DE02"}, "pay from DE02").outcome == "ok"
    assert call({"kind": "iban", "iban": "DE02"}, "pay").error.code == "not_stated_by_user"


def test_an_error_hides_the_sensitive_field_of_a_shape() -> None:
    result = call({"kind": "card", "number": 4111222233334444})

    assert result.error.code == "invalid_arguments"
    assert "4111222233334444" not in str(result.to_dict())


def shape() -> Schema:
    spec, found = parse_tool(PAY, "pay.tool.md")
    assert spec is not None, found
    return spec.parameters[0].shape


@dataclass
class Card:
    """A card of a test."""

    kind: str
    number: str
    months: int | None = None


@dataclass
class Iban:
    """An account of a test."""

    kind: str
    iban: str


def test_an_annotation_must_hold_each_shape() -> None:
    assert mismatch(shape(), Card | Iban) is None
    assert mismatch(shape(), dict[str, Any]) is None
    assert mismatch(shape(), Card) is not None


def test_a_function_may_return_any_of_the_shapes() -> None:
    assert unwritable(shape(), Iban, "sync") is None
    assert unwritable(shape(), list[str], "sync") is not None


def test_a_steps_argument_is_read_by_the_shape_that_it_names() -> None:
    said = {"kind": "card", "number": "4111", "months": "3"}
    fields = [Argument(name=n, value=Template(parts=(text,))) for n, text in said.items()]
    written = Values(fields=tuple(fields))

    assert shape_for(written, shape()) == shape().objects[0]
    assert value_of(written, shape(), lambda _: None) == {**said, "months": 3}


def test_a_step_that_lacks_a_field_of_its_shape_is_an_error() -> None:
    skill = (
        "# Order\n\nOrder it.\n\n## Metadata\n\n- **Name**: order\n- **Version**: 1.0.0\n"
        "- **Category**: shop\n- **Required Tools**: pay\n\n## Workflow\n\n1. **Pay** it.\n"
        "   - **Use**: pay\n   - **With**:\n     - payment:\n       - kind: iban\n"
        "       - number: 4111\n\n## Input Schema\n\nNone\n\n## Output Schema\n\n"
        "- **Type**: object\n"
    )
    assert parse_skill(skill, "order.skill.md")[0] is not None
    files = {"pay.tool.md": PAY, "order.skill.md": skill}
    with memory_workspace(files, [pay]) as workspace:
        told = [one.message for one in workspace.diagnostics]

    assert any("has no parameter 'number'" in message for message in told), told
    assert any("needs 'iban'" in message for message in told), told
