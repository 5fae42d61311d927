"""The jumps of a step that does not lead to the next one."""

from toolmd._skills.frame import DeclinedError, End, Frame, Go, Jump, StepError, StepFailure
from toolmd._skills.text import sentence
from toolmd._types.skill import Step, Way


def stopped(message: str) -> End:
    """End without success because the author's Stop applies."""
    return End(success=False, message=message, error=message, code="stopped")


def cancelled(frame: Frame) -> End:
    """End because the run was cancelled."""
    message = f"{frame.spec.title} was cancelled."
    return End(success=False, message=message, error=message, code="cancelled")


def failure(frame: Frame, step: Step, error: StepError, index: int | None = None) -> Jump:
    """Return where a failed step leads: On error's way, or the end."""
    message = sentence(f"Step {frame.key(step, index)} ({step.title}) failed: {error.message}")
    if step.on_error is not None:
        jump = jump_of(frame, step.on_error.then)
        if jump is None:
            frame.failures.append(StepFailure(step.title, message))
        return jump
    return End(
        success=False, message=message, error=f"{error.code}: {error.message}", code=error.code
    )


def rejection(frame: Frame, step: Step, declined: DeclinedError, index: int | None = None) -> Jump:
    """Return where a declined question leads: If no's way, or the end."""
    frame.tell("failed", step, "no answer in time" if declined.late else "declined", index)
    if step.if_no is not None:
        return jump_of(frame, step.if_no)
    what = "Nobody answered in time" if declined.late else "Declined"
    message = f"{what}: {step.title}."
    return End(success=False, message=message, error=message, code="refused")


def jump_of(frame: Frame, way: Way) -> Jump:
    """Return the jump of a way."""
    match way.kind:
        case "go":
            return Go(way.target)
        case "stop":
            return stopped(_said(frame, way))
        case _:
            return None


def _said(frame: Frame, way: Way) -> str:
    """Return a stop's text; an error in the text must not hide that the skill stops."""
    if way.text is None:
        return "Stopped."
    try:
        return frame.text(way.text)
    except StepError as error:
        return sentence(f"Stopped; {error.message}")
