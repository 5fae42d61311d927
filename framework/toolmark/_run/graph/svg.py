"""Draw a skill's chart as SVG: a column a section, the steps below one another."""

from html import escape

from toolmark._run.graph.chart import Arrow, Box, Chart

WIDTH = 300
GAP_X = 90
GAP_Y = 34
HEAD = 56
MARGIN = 24
LINE = 18
LETTERS = 42
"""Characters of a line; what is longer is cut and stands in full in the box's title."""
_COLOURS = {
    "use": "#dbeafe",
    "ask": "#fef3c7",
    "choose": "#ede9fe",
    "return": "#dcfce7",
    "stop": "#fee2e2",
    "note": "#f4f4f5",
}
_HEAD = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" \
viewBox="0 0 {width} {height}" role="img" font-family="system-ui, sans-serif">
<title>{title}</title>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" \
orient="auto"><path d="M0 0 8 4 0 8z" fill="#52525b"/></marker></defs>
<rect width="{width}" height="{height}" fill="#ffffff"/>"""
Place = tuple[int, int, int]
"""Left, top and height of a box, in pixels."""


def svg(chart: Chart) -> str:
    """Give one SVG document without scripts, styles from elsewhere or fonts of its own."""
    places = _places(chart)
    width = 2 * MARGIN + len(chart.sections) * (WIDTH + GAP_X) - GAP_X
    height = max((top + tall for _, top, tall in places.values()), default=HEAD) + MARGIN
    parts = [_HEAD.format(width=width, height=height, title=_plain(chart.title))]
    parts += [_arrow(arrow, places) for arrow in chart.arrows]
    for column, title in enumerate(chart.sections):
        left = MARGIN + column * (WIDTH + GAP_X)
        parts.append(_text(left, MARGIN + 14, _cut(title), size=15, bold=True))
    parts += [_box(box, places[box.name]) for box in chart.boxes]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _places(chart: Chart) -> dict[str, Place]:
    places: dict[str, Place] = {}
    tops = [HEAD] * len(chart.sections)
    for box in chart.boxes:
        tall = LINE * (1 + len(box.lines)) + 14
        left = MARGIN + box.column * (WIDTH + GAP_X)
        places[box.name] = (left, tops[box.column], tall)
        tops[box.column] += tall + GAP_Y
    return places


def _box(box: Box, place: Place) -> str:
    left, top, tall = place
    dashed = ' stroke-dasharray="4 3"' if box.kind == "note" else ""
    frame = f'x="{left}" y="{top}" width="{WIDTH}" height="{tall}" rx="7"'
    parts = [
        f"<g><title>{_plain(chr(10).join((box.title, *box.lines)))}</title>",
        f'<rect {frame} fill="{_COLOURS[box.kind]}" stroke="#a1a1aa"{dashed}/>',
        _text(left + 12, top + 22, _cut(box.title), size=13, bold=True),
    ]
    for row, line in enumerate(box.lines, 1):
        parts.append(_text(left + 12, top + 22 + row * LINE, _cut(line), size=12))
    return "".join([*parts, "</g>"])


def _arrow(arrow: Arrow, places: dict[str, Place]) -> str:
    left, top, tall = places[arrow.start]
    to_left, to_top, to_tall = places[arrow.end]
    if left == to_left:
        middle = left + WIDTH // 2
        path = f"M{middle} {top + tall}V{to_top - 1}"
        label = (middle + 8, top + tall + GAP_Y // 2 + 4)
    else:
        start, end = (left + WIDTH, top + tall // 2), (to_left - 1, to_top + to_tall // 2)
        half = start[0] + GAP_X // 2
        path = f"M{start[0]} {start[1]}H{half}V{end[1]}H{end[0]}"
        label = (start[0] + 6, start[1] - 6)
    line = f'<path d="{path}" fill="none" stroke="#52525b" marker-end="url(#tip)"/>'
    return line + (_text(*label, arrow.label, size=12) if arrow.label else "")


def _text(left: int, base: int, text: str, *, size: int, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{left}" y="{base}" font-size="{size}"{weight} fill="#18181b">'
        f"{_plain(text)}</text>"
    )


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LETTERS else f"{flat[: LETTERS - 1]}…"


def _plain(text: str) -> str:
    """Give text as XML; XML has no place for control characters."""
    return escape("".join(letter for letter in text if letter.isprintable() or letter == "\n"))
