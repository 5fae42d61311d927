"""Where a run stands, step by step, as its page draws it over the skill's graph."""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from toolmark._model.run import RunView
from toolmark._model.skill import SkillSpec

StepState = Literal["done", "failed", "waiting"]


class Happened(NamedTuple):
    """One recorded thing of a run."""

    step: str
    """The id of the skill's step: `1`, `No slots/1`."""
    title: str
    what: str
    """`book_appointment`, `ask`, `choose`."""
    at: str
    value: Any
    state: StepState


def happened(view: RunView, spec: SkillSpec | None) -> tuple[Happened, ...]:
    """Give what a run recorded, in its order, and at the end what it waits for."""
    titles = {} if spec is None else _titles(spec)
    told = []
    for entry in view.entries:
        step = step_of(entry.key, titles)
        what = entry.key[len(step) :].lstrip(":")
        told.append(
            Happened(step, titles.get(step, step), what, entry.at, entry.value, _state(entry.value))
        )
    for question in view.questions:
        step = step_of(question.key, titles)
        what, title = "waits for a person", titles.get(step, question.step)
        told.append(Happened(step, title, what, "", question.prompt, "waiting"))
    return tuple(told)


def step_of(key: str, steps: Iterable[str] = ()) -> str:
    """Give the id of the step of the skill itself that a key of its run lies in.

    `steps` are the skill's own: the title of a section may hold a colon or a bracket.
    """
    known = [step for step in steps if key == step or key.startswith((f"{step}:", f"{step}["))]
    return max(known, key=len, default=key.partition(":")[0].partition("[")[0])


def _state(value: Any) -> StepState:
    """Tell from what was recorded whether it went well."""
    if not isinstance(value, dict):
        return "done"
    refused = value.get("approved") is False
    return "failed" if refused or value.get("outcome") in _BAD else "done"


_BAD = frozenset(("failed", "denied", "unknown"))


def _titles(spec: SkillSpec) -> dict[str, str]:
    return {step.id: step.title for section in spec.workflow_sections for step in section.steps}
