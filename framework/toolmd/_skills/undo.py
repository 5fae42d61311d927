"""Undo what a skill did, last first, when it stops without success."""

from toolmd._skills.action import StepActions
from toolmd._skills.frame import DeclinedError, Frame, StepError
from toolmd._skills.text import sentence


async def roll_back(frame: Frame, actions: StepActions) -> list[str]:
    """Run the bound compensations in reverse; return a sentence for each failure.

    A failure does not prevent the others from running.
    """
    left = []
    while frame.undos:
        undo = frame.undos.pop()
        try:
            await actions.undo(undo)
        except (StepError, DeclinedError) as error:
            reason = error.message if isinstance(error, StepError) else "it was declined"
            left.append(sentence(f"Not undone: step {undo.key} ({undo.step.title}): {reason}"))
            undo.frame.tell("kept", undo.step, left[-1])
        else:
            undo.frame.tell("undone", undo.step, undo.tool)
    return left
