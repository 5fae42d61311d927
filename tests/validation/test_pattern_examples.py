"""A text that misses its Pattern is told by its Example, where it has one."""

from toolmd._types.schema import Parameter, Schema
from toolmd._validation import ArgumentsValidator, InvalidArgumentsError


def message(shape):
    try:
        ArgumentsValidator([Parameter(name="at", shape=shape)], ignore_unknown=False).validate(
            {"at": "9 am"}
        )
    except InvalidArgumentsError as error:
        return error.problems[0].message
    return ""


def test_the_example_stands_in_place_of_the_expression():
    clock = {"types": ("string",), "pattern": "[0-9]{2}:[0-9]{2}"}
    assert message(Schema(**clock)) == (
        'at must be text that matches [0-9]{2}:[0-9]{2} as a whole; got "9 am"'
    )
    assert message(Schema(**clock, has_example=True, example="09:00")) == (
        'at must be text such as 09:00; got "9 am"'
    )
