"""Draw a skill's chart as SVG: one column per section, the steps below each other."""

from collections.abc import Mapping
from html import escape

from toolmd._skills.graph.chart import Chart, told
from toolmd._skills.graph.layout import HEAD, WIDTH, Layout, PlacedBox, Route, lay_out
from toolmd._skills.graph.states import WORDS, taken
from toolmd._skills.graph.style import STYLE
from toolmd._types.run import StepState

_BARE = 'fill="none" stroke="currentColor"'
"""How a shape looks without STYLE."""


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
    layout, known = lay_out(chart), states or {}
    keys = {box.name: box.key for box in chart.boxes}
    parts = [_head(chart, layout, known, prefix, standalone=standalone)]
    took = taken(chart, known)
    parts += [_edge(route, keys, prefix, took=route.arrow in took) for route in layout.routes]
    for left, title in layout.heads:
        parts.append(_text(left, HEAD - 34, title[:48], "section"))
    parts += [_step(place, known.get(place.box.key), prefix) for place in layout.places]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _head(
    chart: Chart,
    layout: Layout,
    states: Mapping[str, StepState],
    prefix: str,
    *,
    standalone: bool,
) -> str:
    size = f'width="{layout.width}" height="{layout.height}"'
    style = f"<style>\n{STYLE}</style>\n" if standalone else ""
    page = f'<rect class="page" {size}/>\n' if standalone else ""
    fares = "".join(f"\n{key}: {WORDS[state]}" for key, state in states.items())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="graph" {size} '
        f'viewBox="0 0 {layout.width} {layout.height}" role="img" '
        f'aria-labelledby="{prefix}-title {prefix}-desc">\n'
        f'<title id="{prefix}-title">{_plain(chart.title)}</title>\n'
        f'<desc id="{prefix}-desc">{_plain(told(chart) + fares)}</desc>\n'
        f"{style}{page}"
        f'<defs><marker id="{prefix}-tip" viewBox="0 0 8 8" refX="6.5" refY="4" '
        'markerUnits="userSpaceOnUse" markerWidth="10" markerHeight="10" orient="auto">'
        '<path class="tip" d="M0 0 8 4 0 8z" fill="currentColor"/></marker></defs>'
    )


def _step(place: PlacedBox, state: StepState | None, prefix: str) -> str:
    box, left, top = place.box, place.left, place.top
    classes = " ".join(("step", box.kind, *([state] if state else [])))
    title = "\n".join(
        (f"{box.number}. {box.title}", *(f"{line.word}: {line.text}" for line in box.lines))
    )
    name, key = f"{prefix}-{box.name.replace('_', '-')}", _plain(box.key)
    frame = f'x="{left}" y="{top}" width="{WIDTH}" height="{place.height}" rx="10"'
    disc = f'cx="{left + 24}" cy="{top + 21}" r="12"'
    parts = [
        f'<g class="{classes}" id="{name}" data-step="{key}">',
        f"<title>{_plain(title)}</title>",
        f'<rect class="card" {frame} {_BARE}/>',
        f'<circle class="disc" {disc} {_BARE}/>',
        _text(left + 24, top + 25, box.number, "number", anchor="middle"),
        _text(left + WIDTH - 14, top + 25, WORDS[state] if state else "", "state", anchor="end"),
        *(_text(line.x, line.base, line.text, line.look) for line in place.written),
    ]
    return "".join([*parts, "</g>"])


def _edge(route: Route, keys: Mapping[str, str], prefix: str, *, took: bool) -> str:
    start, end = keys[route.arrow.start], keys[route.arrow.end]
    mark = " taken" if took else ""
    line = (
        f'<path class="edge{mark}" data-from="{_plain(start)}" data-to="{_plain(end)}" '
        f'd="{route.path}" {_BARE} marker-end="url(#{prefix}-tip)"/>'
    )
    label = route.arrow.label
    return line + (_text(*route.label, label, "label") if label else "")


def _text(left: int, base: int, text: str, look: str, *, anchor: str = "") -> str:
    anchored = f' text-anchor="{anchor}"' if anchor else ""
    return (
        f'<text class="{look}" x="{left}" y="{base}" font-size="12" '
        f'fill="currentColor"{anchored}>{_plain(text)}</text>'
    )


def _plain(text: str) -> str:
    """Return text as XML; XML does not allow control characters."""
    return escape("".join(letter for letter in text if letter.isprintable() or letter == "\n"))
