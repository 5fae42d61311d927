"""Draw a skill's chart as SVG: a column for each section, the steps below each other."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import NamedTuple

from toolmd._skills.graph.chart import WORDS, Arrow, Box, Chart, describe, taken
from toolmd._types.run import StepState

WIDTH = 320
"""The width of a step; all sizes are in pixels."""
MARGIN = 28
HEAD = 78
GAP_X = 84
GAP_Y = 30
LABEL = 52
"""Space for an arrow's label before the first lane."""
LANE = 16
"""Distance between two parallel arrows."""
RADIUS = 8
"""The radius of the corners of an arrow."""
PAD = 14
INDENT = 46
"""Where a box's text begins, right of its number."""
TITLE_LINE = 19
LINE = 18
WORD_X = 62
"""Width of the words before a box's lines."""
MAX_LINES = 4
_BARE = 'fill="none" stroke="currentColor"'
"""How a shape looks without STYLE."""
STYLE = (Path(__file__).parent / "graph.css").read_text(encoding="utf-8")
"""For a page that contains the drawing, and for a standalone drawing."""


class _Place(NamedTuple):
    """A box at its place, with the texts in it."""

    box: Box
    left: int
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
    lefts, right = _columns(chart)
    columns = {box.name: box.column for box in chart.boxes}
    far = any(abs(columns[a.end] - columns[a.start]) > 1 for a in chart.arrows)
    tops = [HEAD + (LANE if far else 0)] * len(lefts)
    places = {}
    for box in chart.boxes:
        places[box.name] = place = _place(box, lefts[box.column], tops[box.column])
        tops[box.column] += place.height + GAP_Y
    took = taken(chart, known)
    parts = [
        _head(chart, (right, max(tops, default=HEAD) - GAP_Y + MARGIN), known, prefix,
              standalone=standalone),
        *_edges(chart, places, lefts, took, prefix),
        *(_text(left, HEAD - 34, title[:48], "section")
          for left, title in zip(lefts, chart.sections, strict=True)),
        *(_step(place, known.get(place.box.key), prefix) for place in places.values()),
    ]  # fmt: skip
    return "\n".join([*parts, "</svg>"]) + "\n"


def _columns(chart: Chart) -> tuple[list[int], int]:
    """Return the left edge of each section, and the width of the drawing."""
    columns = {box.name: box.column for box in chart.boxes}
    lanes = [0] * len(chart.sections)
    for arrow in chart.arrows:
        start, end = columns[arrow.start], columns[arrow.end]
        if start != end:
            lanes[start] += 1
            if end - start > 1:
                lanes[end - 1] += 1
    lefts, left = [], MARGIN
    for number in lanes:
        lefts.append(left)
        left += WIDTH + GAP_X + LANE * number
    return lefts, lefts[-1] + WIDTH + MARGIN if lefts else 2 * MARGIN


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


def _place(box: Box, left: int, top: int) -> _Place:
    """Place a box with its title and its lines."""
    texts, base, x = [], top + 26, left + INDENT
    # The step's state is written at the end of the first line; bold letters are wider.
    for row in _wrap(box.title, WIDTH - INDENT - PAD - 56, 15):
        texts.append(_text(x, base, row, "title"))
        base += TITLE_LINE
    base += 2
    for line in box.lines:
        texts.append(_text(x, base, line.word, "word"))
        for row in _wrap(line.text, WIDTH - INDENT - WORD_X - PAD, 12, code=line.code):
            texts.append(_text(x + WORD_X, base, row, "code" if line.code else "text"))
            base += LINE
    return _Place(box, left, top, base - top - (6 if box.lines else 4), "".join(texts))


def _step(place: _Place, state: StepState | None, prefix: str) -> str:
    box, left, top = place.box, place.left, place.top
    classes = " ".join(("step", box.kind, *([state] if state else [])))
    title = "\n".join(
        (f"{box.number}. {box.title}", *(f"{line.word}: {line.text}" for line in box.lines))
    )
    name, key = f"{prefix}-{box.name.replace('_', '-')}", _plain(box.key)
    frame = f'x="{left}" y="{top}" width="{WIDTH}" height="{place.height}" rx="10"'
    word = WORDS[state] if state else ""
    return (
        f'<g class="{classes}" id="{name}" data-step="{key}"><title>{_plain(title)}</title>'
        f'<rect class="card" {frame} {_BARE}/>'
        f'<circle class="disc" cx="{left + 24}" cy="{top + 21}" r="12" {_BARE}/>'
        f"{_text(left + 24, top + 25, box.number, 'number', anchor='middle')}"
        f"{_text(left + WIDTH - 14, top + 25, word, 'state', anchor='end')}{place.texts}</g>"
    )


def _edges(
    chart: Chart,
    places: Mapping[str, _Place],
    lefts: list[int],
    took: frozenset[Arrow],
    prefix: str,
) -> Iterator[str]:
    """Yield each arrow: down to the next step, or along the lanes between the columns."""
    used: dict[int, int] = defaultdict(int)
    sides: dict[str, int] = {}
    arrivals: dict[str, int] = {}

    def lane(column: int) -> int:
        used[column] += 1
        return lefts[column] + WIDTH + LABEL + LANE * (used[column] - 1)

    for arrow in chart.arrows:
        start, end = places[arrow.start], places[arrow.end]
        if start.left == end.left:
            middle, bottom = start.left + WIDTH // 2, start.top + start.height
            path, label = f"M{middle} {bottom}V{end.top - 2}", (middle + 10, bottom + 19)
        else:
            sides[arrow.start] = y = sides.get(arrow.start, start.top + 6) + 18
            arrivals[arrow.end] = to = arrivals.get(arrow.end, end.top + 10) + 12
            right, first = start.left + WIDTH, lane(start.box.column)
            to = min(to, end.top + end.height - 6)
            bends = [(right, y), (first, y)]
            if end.box.column - start.box.column > 1:
                last = lane(end.box.column - 1)
                bends += [(first, HEAD - 8), (last, HEAD - 8), (last, to)]
            else:
                bends.append((first, to))
            path, label = _round([*bends, (end.left - 2, to)]), (right + 8, y - 5)
        mark = " taken" if arrow in took else ""
        yield (
            f'<path class="edge{mark}" data-from="{_plain(start.box.key)}" '
            f'data-to="{_plain(end.box.key)}" d="{path}" {_BARE} marker-end="url(#{prefix}-tip)"/>'
        ) + (_text(*label, arrow.label, "label") if arrow.label else "")


def _round(points: list[tuple[int, int]]) -> str:
    """Return the path along points with rounded corners."""
    path = f"M{points[0][0]} {points[0][1]}"
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        into, out = _near(corner, before), _near(corner, after)
        path += f"L{into[0]} {into[1]}Q{corner[0]} {corner[1]} {out[0]} {out[1]}"
    return f"{path}L{points[-1][0]} {points[-1][1]}"


def _near(corner: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    """Return the point at the radius from a corner towards another, at most half way."""
    ways = [there - here for here, there in zip(corner, other, strict=True)]
    x, y = (max(-RADIUS, min(RADIUS, int(way / 2))) for way in ways)
    return corner[0] + x, corner[1] + y


def _wrap(text: str, room: int, size: int, *, code: bool = False) -> list[str]:
    """Wrap text to lines of this width in pixels; text beyond four lines is cut off."""
    rows = [""]
    for word in text.split():
        longer = f"{rows[-1]} {word}".strip()
        if rows[-1] and _ink(longer, size, code=code) > room:
            rows.append(word)
        else:
            rows[-1] = longer
        while len(rows[-1]) > 1 and _ink(rows[-1], size, code=code) > room:
            whole = rows.pop()
            fits = (n for n in range(len(whole) - 1, 0, -1)
                    if n == 1 or _ink(whole[:n], size, code=code) <= room)  # fmt: skip
            at = next(fits)
            rows += [whole[:at], whole[at:]]
    if len(rows) > MAX_LINES:
        rows = [*rows[: MAX_LINES - 1], f"{rows[MAX_LINES - 1][:-1]}…"]
    return rows


def _ink(text: str, size: int, *, code: bool) -> float:
    """Return about how many pixels a text takes, whichever font the reader has."""
    wide = sum(letter in "mwMW@%" or letter >= "\u2e80" for letter in text)
    letter = 0.61 if code else 0.52
    return (len(text) * letter + wide * 0.43) * size


def _text(left: int, base: int, text: str, look: str, *, anchor: str = "") -> str:
    anchored = f' text-anchor="{anchor}"' if anchor else ""
    return (
        f'<text class="{look}" x="{left}" y="{base}" font-size="12" '
        f'fill="currentColor"{anchored}>{_plain(text)}</text>'
    )


def _plain(text: str) -> str:
    """Return text as XML; XML does not allow control characters."""
    return escape("".join(letter for letter in text if letter.isprintable() or letter == "\n"))
