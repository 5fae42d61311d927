"""Read a skill's steps as boxes and arrows, for whoever draws them."""

from typing import Literal, NamedTuple

from toolmark._model.skill import Loop, Section, SkillSpec, Step, Way, value_text
from toolmark._run.turn import folded

Kind = Literal["use", "ask", "choose", "return", "stop", "note"]


class Box(NamedTuple):
    """One step."""

    name: str
    """`s0_2`: the third step of the first section."""
    column: int
    """The section's number."""
    kind: Kind
    title: str
    lines: tuple[str, ...]
    """What it does, one thing a line."""


class Arrow(NamedTuple):
    """A way from one step to another; an empty label is simply the next."""

    start: str
    end: str
    label: str = ""


class Chart(NamedTuple):
    """A whole skill."""

    title: str
    sections: tuple[str, ...]
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


def chart_of(spec: SkillSpec) -> Chart:
    """Give the boxes and arrows of a skill, in the file's order."""
    boxes: list[Box] = []
    arrows: list[Arrow] = []
    sections = spec.workflow_sections
    firsts = {folded(s.name): f"s{at}_0" for at, s in enumerate(sections) if s.name and s.steps}
    for column, section in enumerate(sections):
        for row, step in enumerate(section.steps):
            name = f"s{column}_{row}"
            boxes.append(Box(name, column, _kind(step), _title(step), _lines(step)))
            if _goes_on(step) and row + 1 < len(section.steps):
                arrows.append(Arrow(name, f"s{column}_{row + 1}", _next_label(step)))
            for label, way in _ways(step):
                if way.kind == "go" and folded(way.target) in firsts:
                    arrows.append(Arrow(name, firsts[folded(way.target)], label))
    names = tuple(_section_title(spec, section) for section in sections)
    return Chart(spec.title, names, tuple(boxes), tuple(arrows))


def _section_title(spec: SkillSpec, section: Section) -> str:
    return section.name or spec.title


def _kind(step: Step) -> Kind:
    if step.use is not None:
        return "use"
    if step.returns is not None:
        return "return"
    if step.stop is not None:
        return "stop"
    if step.choose is not None:
        return "choose"
    return "ask" if step.ask is not None else "note"


def _title(step: Step) -> str:
    return f"{step.id.rsplit('/', 1)[-1]}. {step.title}"


def _goes_on(step: Step) -> bool:
    return (step.returns is None and step.stop is None) or step.when is not None


def _next_label(step: Step) -> str:
    ends = step.returns is not None or step.stop is not None
    return "else" if ends and step.when is not None else ""


def _ways(step: Step) -> list[tuple[str, Way]]:
    ways = [("no", step.if_no), ("empty", step.if_empty), ("none", step.or_else)]
    if step.on_error is not None:
        ways.append(("error", step.on_error.then))
    return [(label, way) for label, way in ways if way is not None]


def _lines(step: Step) -> tuple[str, ...]:
    """Say what a step does, one thing a line, in the order in which it happens."""
    ends = {"stop": "stops", "continue": "goes on"}
    ways = [f"{label}: {ends[way.kind]}" for label, way in _ways(step) if way.kind in ends]
    tries = step.on_error.retries if step.on_error is not None else 0
    lines = (
        step.when and f"when {step.when.cel}",
        step.for_each and _loop(step.for_each),
        step.ask and f"ask: {value_text(step.ask)}",
        step.use and f"use {step.use.name}",
        step.choose and f"choose {step.choose.cel}",
        step.check and f"check {step.check.cel}",
        tries and f"error: {tries} more tries",
        *ways,
        step.undo and f"undo: {step.undo.name}",
        step.save_as and f"→ {step.save_as}",
    )
    return tuple(str(line) for line in lines if line)


def _loop(loop: Loop) -> str:
    many = f", {loop.at_once} at once" if loop.at_once > 1 else ""
    return f"for each {loop.name} in {loop.over.cel}{many}"
