"""The inputs of a skill's Schedule."""

from typing import Any

from toolmd._skills.text import ValueTextError, read_text
from toolmd._types.skill import SkillSpec
from toolmd._validation import ArgumentsValidator, InvalidArgumentsError
from toolmd.errors import did_you_mean


class InvalidScheduleError(ValueError):
    """The inputs do not fit; the message has each problem."""


def schedule_inputs(spec: SkillSpec) -> dict[str, Any]:
    """Return the inputs of a scheduled run, read by their types; raises InvalidScheduleError."""
    shapes = {parameter.name: parameter.shape for parameter in spec.parameters}
    inputs = {}
    for name, text in spec.schedule_inputs.items():
        if name not in shapes:
            hint = did_you_mean(name, shapes)
            raise InvalidScheduleError(f"there is no input '{name}'{hint and f'; {hint}'}")
        try:
            inputs[name] = read_text(text, shapes[name])
        except ValueTextError as error:
            raise InvalidScheduleError(f"'{name}': {error}") from None
    try:
        return dict(ArgumentsValidator(spec.parameters).validate(inputs))
    except InvalidArgumentsError as error:
        said = "; ".join(problem.message for problem in error.problems)
        raise InvalidScheduleError(said) from None
