"""Draw a skill's chart as SVG: the steps below each other, the jumps in lanes beside them."""

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple

from toolmd._skills.graph.chart import WORDS, Arrow, Box, Chart, describe, taken
from toolmd._types.run import StepState

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
    prefix: str = "graph",
) -> str:
    """Return one SVG, without scripts, external fonts or images.

    Every step is a `g` of the class `step`, with its kind and its state as further classes, its
    id as `data-step`, and the state's word in a `text` of the class `state`. `states` has the
    states by the steps' ids. With `standalone` the SVG contains STYLE, else the page must include
    it. `prefix` begins every id.
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
    took = taken(chart, known)
    edges = [*_edges(chart, places, took, prefix)]
    lanes = sum(places[a.start].box.column != places[a.end].box.column for a in chart.arrows)
    width = 2 * MARGIN + WIDTH + (LABEL + LANE * lanes if lanes else 0)
    parts = [
        _head(chart, (width, top - GAP + MARGIN), known, prefix, standalone=standalone),
        *edges,
        *titles,
        *(_step(place, known.get(place.box.key), prefix) for place in places.values()),
    ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _head(
    chart: Chart,
    size: tuple[int, int],
    states: Mapping[str, StepState],
    prefix: str,
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
        f'aria-labelledby="{prefix}-title {prefix}-desc">\n'
        f'<title id="{prefix}-title">{_plain(chart.title)}</title>\n'
        f'<desc id="{prefix}-desc">{_plain(describe(chart) + fares)}</desc>\n'
        f"{own}"
        f'<defs><marker id="{prefix}-tip" viewBox="0 0 8 8" refX="6.5" refY="4" '
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


def _step(place: _Place, state: StepState | None, prefix: str) -> str:
    box, top = place.box, place.top
    classes = " ".join(("step", box.kind, *([state] if state else [])))
    title = "\n".join(
        (f"{box.number}. {box.title}", *(f"{line.word}: {line.text}" for line in box.lines))
    )
    name, key = f"{prefix}-{box.name.replace('_', '-')}", _plain(box.key)
    frame = f'x="{MARGIN}" y="{top}" width="{WIDTH}" height="{place.height}" rx="10"'
    word = WORDS[state] if state else ""
    return (
        f'<g class="{classes}" id="{name}" data-step="{key}"><title>{_plain(title)}</title>'
        f'<rect class="card" {frame} {_BARE}/>'
        f'<circle class="disc" cx="{MARGIN + 24}" cy="{top + 21}" r="12" {_BARE}/>'
        f"{_text(MARGIN + 24, top + 25, box.number, 'number', anchor='middle')}"
        f"{_text(MARGIN + WIDTH - 14, top + 25, word, 'state', anchor='end')}{place.texts}</g>"
    )


def _edges(
    chart: Chart, places: Mapping[str, _Place], took: frozenset[Arrow], prefix: str
) -> Iterator[str]:
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
            f'data-to="{_plain(end.box.key)}" d="{path}" {_BARE} marker-end="url(#{prefix}-tip)"/>'
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
