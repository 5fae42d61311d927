"""Place a chart's boxes and route its arrows: columns of sections, lanes between them."""

from typing import NamedTuple

from toolmd._skills.graph.chart import Arrow, Box, Chart

WIDTH = 320
MARGIN = 28
HEAD = 78
GAP_X = 84
GAP_Y = 30
LABEL = 52
"""Space for an arrow's label before the first lane; all sizes are in pixels."""
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
MAX_LINES = 3
_NARROW = frozenset("ijl.,:;'|!ftrI()[]` ")
_WIDE = frozenset("mwMW@%")
_SANS, _MONO = 0.56, 0.61
_TITLE = 15
"""Bold letters are about as wide as plain ones of this size."""


class Written(NamedTuple):
    """One line of text in a box."""

    x: int
    base: int
    text: str
    look: str
    """`title`, `word`, `text` or `code`."""


class PlacedBox(NamedTuple):
    """A box with its corner, height and text."""

    box: Box
    left: int
    top: int
    height: int
    written: tuple[Written, ...]


class Route(NamedTuple):
    """An arrow's path, and the place of its label."""

    arrow: Arrow
    path: str
    label: tuple[int, int]


class Layout(NamedTuple):
    """The places of all boxes, arrows and headings."""

    width: int
    height: int
    heads: tuple[tuple[int, str], ...]
    """The sections' left edges and names."""
    places: tuple[PlacedBox, ...]
    routes: tuple[Route, ...]


def lay_out(chart: Chart) -> Layout:
    """Return the places of all boxes and the paths of all arrows."""
    columns = {box.name: box.column for box in chart.boxes}
    lanes = _lanes(chart, columns)
    lefts, left = [], MARGIN
    for column in range(len(chart.sections)):
        lefts.append(left)
        left += WIDTH + GAP_X + LANE * lanes[column]
    bus = max((abs(columns[a.end] - columns[a.start]) for a in chart.arrows), default=0) > 1
    tops = [HEAD + (LANE if bus else 0)] * len(lefts)
    places = {}
    for box in chart.boxes:
        place = _place(box, lefts[box.column], tops[box.column])
        places[box.name] = place
        tops[box.column] += place.height + GAP_Y
    return Layout(
        lefts[-1] + WIDTH + MARGIN if lefts else 2 * MARGIN,
        max(tops, default=HEAD) - GAP_Y + MARGIN,
        tuple(zip(lefts, chart.sections, strict=True)),
        tuple(places.values()),
        _routes(chart, places, lefts),
    )


def _lanes(chart: Chart, columns: dict[str, int]) -> list[int]:
    """Count the arrows that run down or up behind each column."""
    lanes = [0] * len(chart.sections)
    for arrow in chart.arrows:
        start, end = columns[arrow.start], columns[arrow.end]
        if start != end:
            lanes[start] += 1
            if end - start > 1:
                lanes[end - 1] += 1
    return lanes


def _routes(chart: Chart, places: dict[str, PlacedBox], lefts: list[int]) -> tuple[Route, ...]:
    used = [0] * len(lefts)
    sides: dict[str, int] = {}
    arrivals: dict[str, int] = {}

    def lane(column: int) -> int:
        used[column] += 1
        return lefts[column] + WIDTH + LABEL + LANE * (used[column] - 1)

    routes = []
    for arrow in chart.arrows:
        start, end = places[arrow.start], places[arrow.end]
        if start.left == end.left:
            middle, bottom = start.left + WIDTH // 2, start.top + start.height
            path = f"M{middle} {bottom}V{end.top - 2}"
            routes.append(Route(arrow, path, (middle + 10, bottom + GAP_Y // 2 + 4)))
            continue
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
        routes.append(Route(arrow, rounded([*bends, (end.left - 2, to)]), (right + 8, y - 5)))
    return tuple(routes)


def rounded(points: list[tuple[int, int]]) -> str:
    """Return the path along points with rounded corners."""
    path = f"M{points[0][0]} {points[0][1]}"
    for at in range(1, len(points) - 1):
        before, corner, after = points[at - 1], points[at], points[at + 1]
        into, out = _near(corner, before), _near(corner, after)
        path += f"L{into[0]} {into[1]}Q{corner[0]} {corner[1]} {out[0]} {out[1]}"
    return f"{path}L{points[-1][0]} {points[-1][1]}"


def _near(corner: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    """Return the point at the radius from a corner towards another, at most half way."""

    def shifted(here: int, there: int) -> int:
        step = min(RADIUS, abs(there - here) // 2)
        return here + (step if there > here else -step)

    return shifted(corner[0], other[0]), shifted(corner[1], other[1])


def _place(box: Box, left: int, top: int) -> PlacedBox:
    written, base = [], top + 26
    # The step's state is written at the end of the first line.
    for row in wrapped(box.title, WIDTH - INDENT - PAD - 56, _TITLE):
        written.append(Written(left + INDENT, base, row, "title"))
        base += TITLE_LINE
    base += 2
    for line in box.lines:
        written.append(Written(left + INDENT, base, line.word, "word"))
        look, room = "code" if line.code else "text", WIDTH - INDENT - WORD_X - PAD
        for row in wrapped(line.text, room, 12, code=line.code):
            written.append(Written(left + INDENT + WORD_X, base, row, look))
            base += LINE
    return PlacedBox(box, left, top, base - top - (6 if box.lines else 4), tuple(written))


def wrapped(text: str, room: int, size: int, *, code: bool = False) -> list[str]:
    """Wrap text to lines of this width in pixels; text beyond three lines is cut off."""
    rows = [""]
    for word in text.split():
        longer = f"{rows[-1]} {word}".strip()
        if rows[-1] and _ink(longer, size, code=code) > room:
            rows.append(word)
        else:
            rows[-1] = longer
    rows = [part for row in rows for part in _broken(row, room, size, code=code)]
    if len(rows) > MAX_LINES:
        rows = [*rows[: MAX_LINES - 1], f"{rows[MAX_LINES - 1]}…"]
        rows[-1] = rows[-1] if _ink(rows[-1], size, code=code) <= room else f"{rows[-1][:-2]}…"
    return rows


def _broken(row: str, room: int, size: int, *, code: bool) -> list[str]:
    """Break one long word."""
    parts = []
    while _ink(row, size, code=code) > room:
        fits = max(
            n for n in range(1, len(row)) if n == 1 or _ink(row[:n], size, code=code) <= room
        )
        parts.append(row[:fits])
        row = row[fits:]
    return [*parts, row]


def _ink(text: str, size: int, *, code: bool) -> float:
    """Return about how many pixels a text takes, whichever font the reader has."""
    if code:
        return len(text) * _MONO * size
    return sum(map(_letter, text)) * size


def _letter(letter: str) -> float:
    if letter in _NARROW:
        return 0.33
    return 0.95 if letter in _WIDE or letter >= "\u2e80" else _SANS
