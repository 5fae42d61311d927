"""Ask a person and read their answer."""

from typing import Any

from toolmd._skills.frame import DeclinedError, Frame, InsteadError
from toolmd._types.result import ConfirmationRequest
from toolmd._types.run import Answer, Question
from toolmd._types.skill import Step
from toolmd._validation.redact import redacted


def question(
    frame: Frame,
    step: Step,
    index: int | None,
    tool: str | None = None,
    arguments: dict[str, Any] | None = None,
) -> Question:
    """Build a step's own question; with a tool it asks for exactly that call."""
    assert step.ask is not None
    key = f"{frame.key(step, index)}:ask"
    prompt = frame.text(step.ask)
    spec = frame.order.plan.tools.get(tool) if tool is not None else None
    sensitivity = (spec.safety.sensitivity if spec is not None else None) or "low"
    saves = step.save_as if tool is None else None
    asked = Question(frame.order.id, key, frame.spec.name, step.title, prompt, tool, arguments,
                     sensitivity, step.timeout_s, saves)  # fmt: skip
    return veiled(frame, asked)


def confirmation(
    frame: Frame,
    step: Step,
    tool: str,
    arguments: dict[str, Any],
    key: str,
    held: ConfirmationRequest,
) -> Question:
    """Build the question for a call that needs a confirmation."""
    form = None if held.form is None else dict(held.form)
    asked = Question(frame.order.id, key, frame.spec.name, step.title, held.prompt, tool,
                     arguments, held.sensitivity, step.timeout_s, form=form)  # fmt: skip
    return veiled(frame, asked)


def veiled(frame: Frame, asked: Question) -> Question:
    """Return a question as it may be stored and shown: without Sensitive values."""
    arguments = asked.arguments
    if asked.tool is not None and arguments is not None:
        parameters = frame.parameters_of(asked.tool)
        frame.secrets.learn(arguments, parameters)
        arguments = frame.secrets.hide_in(redacted(arguments, parameters))
    return asked._replace(prompt=frame.secrets.hide(asked.prompt), arguments=arguments)


async def answered(frame: Frame, step: Step, asked: Question) -> Answer:
    """Return an approval; a no or silence raises DeclinedError, a text answer InsteadError."""
    answer = await frame.journal.answer(asked)
    if not answer.approved:
        raise DeclinedError(late=answer.late, by=answer.by)
    if asked.tool is not None and answer.text is not None:
        frame.tell("progress", step, f"answered: {asked.tool} does not run")
        raise InsteadError(answer.text, answer.by)
    frame.tell("progress", step, "approved")
    return answer
