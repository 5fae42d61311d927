"""A skill as a graph: its steps and the paths between them, as Mermaid text and as SVG."""

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple

from toolmd._types.call_spec import seconds
from toolmd._types.run import Question, RunEvent, RunKind, StepState
from toolmd._types.skill import (
    Argument,
    Expression,
    Loop,
    OnError,
    SkillSpec,
    Step,
    Template,
    Use,
    Way,
    folded,
    value_text,
)

WORDS: dict[StepState, str] = {
    "running": "runs",
    "waiting": "waits",
    "done": "done",
    "failed": "failed",
    "skipped": "skipped",
    "undone": "undone",
}
"""The word next to each step: colour alone is not accessible."""
_STATES: dict[RunKind, StepState] = {
    "started": "running",
    "skipped": "skipped",
    "waiting": "waiting",
    "done": "done",
    "failed": "failed",
    "undone": "undone",
}
_SHAPES = {
    "use": ("[", "]"),
    "ask": ("{{", "}}"),
    "choose": ("(", ")"),
    "return": ("([", "])"),
    "stop": ("[[", "]]"),
    "wait": ("[/", "/]"),
    "note": (">", "]"),
}
# Mermaid reads these characters in labels, so they are replaced by its entities.
_ENTITIES = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "`": "#96;", "\n": " "}
_LOOKS: dict[StepState, str] = {
    "running": "stroke:#1d4ed8,stroke-width:3px",
    "waiting": "stroke:#b45309,stroke-width:3px",
    "done": "stroke:#047857,stroke-width:2px",
    "failed": "stroke:#c81e1e,stroke-width:3px",
    "skipped": "stroke-dasharray:4 3",
    "undone": "stroke-dasharray:4 3",
}


class BoxLine(NamedTuple):
    """One key of a step: a word for it, and its text."""

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
    kind: str
    """The key that acts, in small letters; `note` for a step without one."""
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
            kind = ["note", *(key.name.lower() for key in step.keys if key.acts)][-1]
            boxes.append(Box(name, step.id, column, kind, number, step.title, _lines(step)))
            if (not step.ends or step.when is not None) and row + 1 < len(section.steps):
                arrows.append(Arrow(name, f"s{column}_{row + 1}", "else" if step.ends else ""))
            for key in step.keys:
                way = _way(key.value(step))
                if way is not None and way.kind == "go" and folded(way.target) in firsts:
                    arrows.append(Arrow(name, firsts[folded(way.target)], key.word))
    names = tuple(section.name or spec.title for section in sections)
    return Chart(spec.title, names, tuple(boxes), tuple(arrows))


def describe(chart: Chart) -> str:
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


def _lines(step: Step) -> tuple[BoxLine, ...]:
    """Return the lines of a step's keys, in the order of a step."""
    lines = [line for key in step.keys if key.word for line in _draw(key.word, key.value(step))]
    if step.message is not None:
        lines.append(BoxLine("say", value_text(step.message)))
    # A step may be its own action: `2. **Stop**: text`.
    return tuple(line for line in lines if line.text and line.text != step.title)


def _draw(word: str, value: Any) -> Iterator[BoxLine]:
    """Yield the lines of a key's value."""
    match value:
        case Expression():
            yield BoxLine(f"{word} until" if word == "wait" else word, value.cel, code=True)
        case Template():
            yield BoxLine(word, value_text(value))
        case Use():
            yield BoxLine(word, value.name, code=True)
        case Loop():
            yield BoxLine(word, f"{value.name} in {value.over.cel}", code=True)
        case OnError():
            if value.retries:
                yield BoxLine(word, f"{value.retries} more tries")
            yield from _draw(word, value.then)
        case Way(kind="stop"):
            yield BoxLine(word, f"stops: {value_text(value.text)}" if value.text else "stops")
        case Way(kind="continue"):
            yield BoxLine(word, "goes on")
        case Way():
            if value.choose is not None:
                yield BoxLine(word, value.choose.cel, code=True)
        case tuple():
            yield BoxLine(
                word,
                ", ".join(one.name if isinstance(one, Argument) else f"{one}" for one in value),
            )
        case float():
            yield BoxLine(word, seconds(value))
        case _:
            yield BoxLine(word, str(value), code=True)


def _way(value: Any) -> Way | None:
    """Return the way of a key that has one."""
    value = value.then if isinstance(value, OnError) else value
    return value if isinstance(value, Way) else None


def states_of(
    skill: str, events: Iterable[RunEvent], questions: Iterable[Question] = ()
) -> dict[str, StepState]:
    """Return the state of each step that the run's own skill has reached, by the step's id.

    A step that uses another skill or loops over a list has one state: its inner events only show
    that it runs or waits. `questions` are the open ones.
    """
    states: dict[str, StepState] = {}
    ended: dict[str, StepState] = {}
    for event in events:
        key = step_id(event.step)
        if event.kind == "kept":
            # The Undo asked or ran; the step itself keeps its state.
            states[key] = ended.get(key, "done")
            continue
        whole = key == event.step and event.skill == skill
        state = _STATES.get(event.kind)
        if state == "waiting":
            states[key] = state
        elif state is None or (not whole and event.kind != "undone"):
            if states.get(key, "waiting") == "waiting":
                states[key] = "running"
        else:
            states[key] = ended[key] = state
    for question in questions:
        states[step_id(question.key)] = "waiting"
    return states


def step_id(key: str) -> str:
    """Return the id of the step of the run's own skill to which a key belongs.

    `2:visit/4:ask` and `2[3]:visit` belong to the step `2`, `No slots/1[3]` to `No slots/1`.
    """
    return key.split(":", 1)[0].split("[", 1)[0]


def arrows_taken(chart: Chart, states: Mapping[str, StepState]) -> frozenset[Arrow]:
    """Return the arrows that a run took.

    A path to another section was taken if the run reached the section but not the next step.
    """
    reached: dict[int, int] = {}
    for at, box in enumerate(chart.boxes):
        if box.key in states:
            reached[box.column] = at
    came = {box.name for at, box in enumerate(chart.boxes) if at <= reached.get(box.column, -1)}
    columns = {box.name: box.column for box in chart.boxes}
    along = [arrow for arrow in chart.arrows if columns[arrow.start] == columns[arrow.end]]
    went_on = {arrow.start for arrow in along if arrow.end in came}
    return frozenset(
        arrow
        for arrow in chart.arrows
        if arrow.end in came
        and (arrow.start in came)
        and (arrow in along or arrow.start not in went_on)
    )


def mermaid(chart: Chart, states: Mapping[str, StepState] | None = None) -> str:
    """Return a `flowchart TD`, one subgraph per section; `states` as for `svg`."""
    known = states or {}
    lines = ["flowchart TD"]
    for column, title in enumerate(chart.sections):
        lines.append(f'  subgraph c{column}["{_escape(title)}"]')
        lines += [f"    {_box(b, known.get(b.key))}" for b in chart.boxes if b.column == column]
        lines.append("  end")
    for arrow in chart.arrows:
        label = f"|{_escape(arrow.label)}|" if arrow.label else ""
        lines.append(f"  {arrow.start} -->{label} {arrow.end}")
    for state, look in _LOOKS.items():
        names = [box.name for box in chart.boxes if known.get(box.key) == state]
        if names:
            lines += [f"  classDef {state} {look}", f"  class {','.join(names)} {state}"]
    return "\n".join(lines) + "\n"


def _box(box: Box, state: StepState | None) -> str:
    opening, closing = _SHAPES.get(box.kind, ("[", "]"))
    title = f"{box.number}. {box.title}" + (f" ({WORDS[state]})" if state else "")
    rows = (title, *(f"{line.word} {line.text}" for line in box.lines))
    text = "<br/>".join(_escape(row) for row in rows)
    return f'{box.name}{opening}"{text}"{closing}'


def _escape(text: str) -> str:
    return "".join(_ENTITIES.get(letter, letter) for letter in text)


WIDTH = 380
"""The width of a step; all sizes are in pixels."""
MARGIN = 28
GAP = 30
"""The space between two steps, where an arrow is drawn."""
SECTION = 40
"""The space for the title of a section."""
LABEL = 52
"""The space for an arrow's label before the first lane."""
LANE = 16
"""The distance between two lanes, one for each jump."""
PAD = 14
INDENT = 46
"""Where a box's text begins, right of its number."""
TITLE_LINE = 19
LINE = 18
WORD_X = 62
"""The width of the words before a box's lines."""
_BARE = 'fill="none" stroke="currentColor"'
"""How a shape looks without STYLE."""
STYLE = (Path(__file__).parent / "graph.css").read_text(encoding="utf-8")
"""For a page that contains the drawing, and for a standalone drawing."""


class _Place(NamedTuple):
    """A box at its place, with the texts in it."""

    box: Box
    top: int
    height: int
    texts: str


def svg(
    chart: Chart,
    states: Mapping[str, StepState] | None = None,
    *,
    standalone: bool = True,
) -> str:
    """Return one SVG, without scripts, external fonts or images.

    Every step is a `g` of the class `step`, with its kind and its state as further classes, its
    id as `data-step`, and the state's word in a `text` of the class `state`. `states` has the
    states by the steps' ids. With `standalone` the SVG contains STYLE, else the page must include
    it.
    """
    known = states or {}
    places: dict[str, _Place] = {}
    titles, top = [], MARGIN
    for column, title in enumerate(chart.sections):
        titles.append(_text(MARGIN, top + 17, title[:60], "section"))
        top += SECTION
        for box in (box for box in chart.boxes if box.column == column):
            places[box.name] = place = _place(box, top)
            top += place.height + GAP
    took = arrows_taken(chart, known)
    edges = [*_edges(chart, places, took)]
    lanes = sum(places[a.start].box.column != places[a.end].box.column for a in chart.arrows)
    width = 2 * MARGIN + WIDTH + (LABEL + LANE * lanes if lanes else 0)
    parts = [
        _head(chart, (width, top - GAP + MARGIN), known, standalone=standalone),
        *edges,
        *titles,
        *(_step(place, known.get(place.box.key)) for place in places.values()),
    ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _head(
    chart: Chart,
    size: tuple[int, int],
    states: Mapping[str, StepState],
    *,
    standalone: bool,
) -> str:
    width, height = size
    box = f'width="{width}" height="{height}"'
    own = f'<style>\n{STYLE}</style>\n<rect class="page" {box}/>\n' if standalone else ""
    fares = "".join(f"\n{key}: {WORDS[state]}" for key, state in states.items())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="graph" {box} '
        f'viewBox="0 0 {width} {height}" role="img" '
        f'aria-labelledby="graph-title graph-desc">\n'
        f'<title id="graph-title">{_plain(chart.title)}</title>\n'
        f'<desc id="graph-desc">{_plain(describe(chart) + fares)}</desc>\n'
        f"{own}"
        f'<defs><marker id="graph-tip" viewBox="0 0 8 8" refX="6.5" refY="4" '
        'markerUnits="userSpaceOnUse" markerWidth="10" markerHeight="10" orient="auto">'
        '<path class="tip" d="M0 0 8 4 0 8z" fill="currentColor"/></marker></defs>'
    )


def _place(box: Box, top: int) -> _Place:
    """Place a box with its title and its lines."""
    texts, base, x = [], top + 26, MARGIN + INDENT
    # The step's state is written at the end of the first line; bold letters are wider.
    for row in _rows(box.title, WIDTH - INDENT - PAD - 56, 15):
        texts.append(_text(x, base, row, "title"))
        base += TITLE_LINE
    base += 2
    for line in box.lines:
        texts.append(_text(x, base, line.word, "word"))
        for row in _rows(line.text, WIDTH - INDENT - WORD_X - PAD, 14 if line.code else 12):
            texts.append(_text(x + WORD_X, base, row, "code" if line.code else "text"))
            base += LINE
    return _Place(box, top, base - top - (6 if box.lines else 4), "".join(texts))


def _step(place: _Place, state: StepState | None) -> str:
    box, top = place.box, place.top
    classes = " ".join(("step", box.kind, *([state] if state else [])))
    title = "\n".join(
        (f"{box.number}. {box.title}", *(f"{line.word}: {line.text}" for line in box.lines))
    )
    name, key = f"graph-{box.name.replace('_', '-')}", _plain(box.key)
    frame = f'x="{MARGIN}" y="{top}" width="{WIDTH}" height="{place.height}" rx="10"'
    word = WORDS[state] if state else ""
    return (
        f'<g class="{classes}" id="{name}" data-step="{key}"><title>{_plain(title)}</title>'
        f'<rect class="card" {frame} {_BARE}/>'
        f'<circle class="disc" cx="{MARGIN + 24}" cy="{top + 21}" r="12" {_BARE}/>'
        f"{_text(MARGIN + 24, top + 25, box.number, 'number', anchor='middle')}"
        f"{_text(MARGIN + WIDTH - 14, top + 25, word, 'state', anchor='end')}{place.texts}</g>"
    )


def _edges(chart: Chart, places: Mapping[str, _Place], took: frozenset[Arrow]) -> Iterator[str]:
    """Yield each arrow: down to the next step, or along a lane to another section."""
    right, lane = MARGIN + WIDTH, MARGIN + WIDTH + LABEL
    leaving: dict[str, int] = {}
    for arrow in chart.arrows:
        start, end = places[arrow.start], places[arrow.end]
        if start.box.column == end.box.column:
            middle, bottom = MARGIN + WIDTH // 2, start.top + start.height
            path, label = f"M{middle} {bottom}V{end.top - 2}", (middle + 10, bottom + 19)
        else:
            leaving[arrow.start] = y = leaving.get(arrow.start, start.top + 6) + 18
            path, label = f"M{right} {y}H{lane}V{end.top + 21}H{right + 2}", (right + 8, y - 5)
            lane += LANE
        mark = " taken" if arrow in took else ""
        yield (
            f'<path class="edge{mark}" data-from="{_plain(start.box.key)}" '
            f'data-to="{_plain(end.box.key)}" d="{path}" {_BARE} marker-end="url(#graph-tip)"/>'
        ) + (_text(*label, arrow.label, "label") if arrow.label else "")


def _rows(text: str, room: int, size: int) -> list[str]:
    """Return a text in at most four lines that fit into a width, whichever font the reader has."""
    letter = 1.0 if any(sign >= "\u2e80" for sign in text) else 0.52
    return wrap(text, int(room / size / letter), max_lines=4, placeholder="…") or [""]


def _text(left: int, base: int, text: str, look: str, *, anchor: str = "") -> str:
    anchored = f' text-anchor="{anchor}"' if anchor else ""
    return (
        f'<text class="{look}" x="{left}" y="{base}" font-size="12" '
        f'fill="currentColor"{anchored}>{_plain(text)}</text>'
    )


def _plain(text: str) -> str:
    """Return text as XML; XML does not allow control characters."""
    return escape("".join(letter for letter in text if letter.isprintable() or letter == "\n"))
