"""A call that breaks a constraint of a Python class learns where and why."""

import pytest
from tests.definitions import tool
from workspace_shop import Shop

TOOL = tool(
    "order",
    """- `wanted` (object, required): The order.
  - `lines` (array of object, required)
    - `price` (number, required)
  - `code` (string, required)
- `tag` (string, required): A word.""",
    returns="string",
)

PYTHON = '''"""Order things."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, field_validator


class Line(BaseModel):
    price: Annotated[float, Field(gt=0)]


class Wanted(BaseModel):
    lines: list[Line]
    code: str

    @field_validator("code")
    @classmethod
    def begins(cls, value: str) -> str:
        if not value.startswith("A"):
            raise ValueError(f"{value} does not begin with A")
        return value


def short(value: str) -> str:
    assert len(value) < 5, "a tag has at most four letters"
    return value


def order(wanted: Wanted, tag: Annotated[str, AfterValidator(short)]) -> str:
    return wanted.code
'''


@pytest.mark.parametrize(
    ("price", "code", "tag", "said"),
    [
        (0, "A1", "new", {"wanted.lines[0].price": "should be greater than 0"}),
        (1, "B1", "new", {"wanted.code": "B1 does not begin with A"}),
        (1, "A1", "fresh", {"tag": "a tag has at most four letters"}),
        (0, "B1", "new", {"wanted.lines[0].price": "than 0", "wanted.code": "begin with A"}),
    ],
)
def test_a_broken_constraint_is_named_with_its_place(shop: Shop, price, code, tag, said):
    shop.write("tools_md/order.tool.md", TOOL)
    shop.write("tools_md/order.py", PYTHON)
    arguments = {"wanted": {"lines": [{"price": price}], "code": code}, "tag": tag}
    result = shop.open().call_sync("order", arguments)
    assert result.error is not None
    assert result.error.code == "invalid_arguments"
    assert [problem.path for problem in result.error.details] == [*said]
    for problem, words in zip(result.error.details, said.values(), strict=True):
        assert words in problem.message
        assert problem.message in result.error.message


def test_the_reason_for_a_sensitive_value_is_not_quoted(shop: Shop):
    sensitive = "  - `code` (string, required)\n    - **Sensitive**: yes"
    shop.write("tools_md/order.tool.md", TOOL.replace("  - `code` (string, required)", sensitive))
    shop.write("tools_md/order.py", PYTHON)
    arguments = {"wanted": {"lines": [], "code": "B1"}, "tag": "new"}
    result = shop.open().call_sync("order", arguments)
    assert result.error is not None
    assert result.error.code == "invalid_arguments"
    assert "B1" not in str(result.to_dict())
