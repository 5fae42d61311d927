"""Convert a skill's steps to boxes and arrows for drawing."""

from typing import Literal, NamedTuple

from toolmd._types.call_spec import seconds
from toolmd._types.skill import Loop, SkillSpec, Step, Way, folded, value_text

BoxKind = Literal["use", "ask", "choose", "return", "stop", "wait", "note"]


class BoxLine(NamedTuple):
    """One action of a step: a word for it, and its text."""

    word: str
    text: str
    code: bool = False
    """Whether the text is a name or an expression."""


class Box(NamedTuple):
    """One step."""

    name: str
    """`s0_2`: the third step of the first section."""
    key: str
    """The step's id, by which runs and their events name it: `3`, `No slots/1`."""
    column: int
    """The section's number."""
    kind: BoxKind
    number: str
    title: str
    lines: tuple[BoxLine, ...]


class Arrow(NamedTuple):
    """A path from one step to another; an empty label is the next step."""

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
    """Return the boxes and arrows of a skill, in the file's order."""
    boxes: list[Box] = []
    arrows: list[Arrow] = []
    sections = spec.workflow_sections
    firsts = {folded(s.name): f"s{at}_0" for at, s in enumerate(sections) if s.name and s.steps}
    for column, section in enumerate(sections):
        for row, step in enumerate(section.steps):
            name = f"s{column}_{row}"
            number = step.id.rsplit("/", 1)[-1]
            boxes.append(Box(name, step.id, column, _kind(step), number, step.title, _lines(step)))
            if _goes_on(step) and row + 1 < len(section.steps):
                arrows.append(Arrow(name, f"s{column}_{row + 1}", _next_label(step)))
            for label, way in _ways(step):
                if way.kind == "go" and folded(way.target) in firsts:
                    arrows.append(Arrow(name, firsts[folded(way.target)], label))
    names = tuple(section.name or spec.title for section in sections)
    return Chart(spec.title, names, tuple(boxes), tuple(arrows))


def told(chart: Chart) -> str:
    """Return a description of the chart in words, for screen readers."""
    labels = {box.name: box for box in chart.boxes}
    sentences = []
    for box in chart.boxes:
        does = [f"{line.word} {line.text}" for line in box.lines]
        does += [
            f"{arrow.label}: go to {chart.sections[labels[arrow.end].column]}"
            for arrow in chart.arrows
            if arrow.start == box.name and arrow.label and labels[arrow.end].column != box.column
        ]
        sentences.append(f"{box.key}. {box.title}" + (f" ({'; '.join(does)})" if does else ""))
    return "\n".join(sentences)


def _kind(step: Step) -> BoxKind:
    if step.use is not None:
        return "use"
    if step.returns is not None:
        return "return"
    if step.stop is not None:
        return "stop"
    if step.choose is not None:
        return "choose"
    if step.ask is not None:
        return "ask"
    return "wait" if step.wait is not None else "note"


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


def _lines(step: Step) -> tuple[BoxLine, ...]:
    """Return the actions of a step in execution order, one per line."""
    tries = step.on_error.retries if step.on_error is not None else 0
    lines = (
        step.when and BoxLine("when", step.when.cel, code=True),
        _wait(step),
        step.for_each and _loop(step.for_each),
        step.ask and BoxLine("ask", value_text(step.ask)),
        step.use and BoxLine("use", step.use.name, code=True),
        step.choose and BoxLine("choose", step.choose.cel, code=True),
        step.returns and BoxLine("give", ", ".join(field.name for field in step.returns)),
        step.stop and _said(step),
        step.message and BoxLine("say", value_text(step.message)),
        step.check and BoxLine("check", step.check.cel, code=True),
        tries and BoxLine("error", f"{tries} more tries"),
        *(_way(label, way) for label, way in _ways(step)),
        step.undo and BoxLine("undo", step.undo.name, code=True),
        step.save_as and BoxLine("save as", step.save_as, code=True),
    )
    return tuple(line for line in lines if line)


def _wait(step: Step) -> BoxLine | None:
    if isinstance(step.wait, float):
        return BoxLine("wait", seconds(step.wait))
    return None if step.wait is None else BoxLine("wait until", step.wait.cel, code=True)


def _said(step: Step) -> BoxLine | None:
    """Return the text of a stop, unless the title already has it."""
    text = "" if step.stop is None else value_text(step.stop)
    return None if text == step.title else BoxLine("say", text)


def _way(label: str, way: Way) -> BoxLine | None:
    """Return a line for a way that leads to no other step."""
    match way.kind:
        case "stop":
            return BoxLine(label, f"stops: {value_text(way.text)}" if way.text else "stops")
        case "continue":
            return BoxLine(label, "goes on")
        case "choose" if way.choose is not None:
            return BoxLine(label, way.choose.cel, code=True)
        case _:
            return None


def _loop(loop: Loop) -> BoxLine:
    many = f", {loop.at_once} at once" if loop.at_once > 1 else ""
    return BoxLine("for each", f"{loop.name} in {loop.over.cel}{many}", code=True)
