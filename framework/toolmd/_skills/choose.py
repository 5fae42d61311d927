"""Choose a value by an expression once, and find the next step where it has none."""

from typing import Any

from toolmd._skills.frame import Frame, StepError
from toolmd._skills.jump import jump_of
from toolmd._types.skill import Step


async def chosen(frame: Frame, step: Step, index: int | None = None) -> Any:
    """Return the value, or the jump of Or else where there is none; raises StepError.

    The value is recorded because expressions do not guarantee the order of an object's keys.
    """
    choose = step.choose
    assert choose is not None

    async def evaluate() -> Any:
        return frame.evaluate(choose)

    value = await frame.perform(f"{frame.key(step, index)}:choose", evaluate)
    way = step.or_else
    if value is not None or (way is None and step.if_empty is not None):
        return value
    if way is None:
        raise StepError("no_value", f"`{choose.cel}` chose nothing, and there is no Or else")
    if way.kind == "choose" and way.choose is not None:
        return frame.evaluate(way.choose)
    return jump_of(frame, way)
