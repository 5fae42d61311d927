"""Write a skill's chart as a Mermaid flowchart."""

from collections.abc import Mapping

from toolmd._skills.graph.chart import Box, Chart
from toolmd._skills.graph.states import WORDS
from toolmd._types.run import StepState

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


def mermaid(chart: Chart, states: Mapping[str, StepState] | None = None) -> str:
    """Return a `flowchart TD`, one subgraph per section; `states` as for `svg`."""
    known = states or {}
    lines = ["flowchart TD"]
    for column, title in enumerate(chart.sections):
        lines.append(f'  subgraph c{column}["{_escaped(title)}"]')
        lines += [f"    {_box(b, known.get(b.key))}" for b in chart.boxes if b.column == column]
        lines.append("  end")
    for arrow in chart.arrows:
        label = f"|{_escaped(arrow.label)}|" if arrow.label else ""
        lines.append(f"  {arrow.start} -->{label} {arrow.end}")
    for state, look in _LOOKS.items():
        names = [box.name for box in chart.boxes if known.get(box.key) == state]
        if names:
            lines += [f"  classDef {state} {look}", f"  class {','.join(names)} {state}"]
    return "\n".join(lines) + "\n"


def _box(box: Box, state: StepState | None) -> str:
    opening, closing = _SHAPES[box.kind]
    title = f"{box.number}. {box.title}" + (f" ({WORDS[state]})" if state else "")
    rows = (title, *(f"{line.word} {line.text}" for line in box.lines))
    text = "<br/>".join(_escaped(row) for row in rows)
    return f'{box.name}{opening}"{text}"{closing}'


def _escaped(text: str) -> str:
    return "".join(_ENTITIES.get(letter, letter) for letter in text)
