"""Write a skill's chart as a Mermaid flowchart."""

from toolmark._run.graph.chart import Box, Chart

_SHAPES = {
    "use": ("[", "]"),
    "ask": ("{{", "}}"),
    "choose": ("(", ")"),
    "return": ("([", "])"),
    "stop": ("[[", "]]"),
    "note": (">", "]"),
}
# Mermaid reads these in labels; its own entities stand for them.
_ENTITIES = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "`": "#96;", "\n": " "}


def mermaid(chart: Chart) -> str:
    """Give a `flowchart TD`, a subgraph a section."""
    lines = ["flowchart TD"]
    for column, title in enumerate(chart.sections):
        lines.append(f'  subgraph c{column}["{_escaped(title)}"]')
        lines += [f"    {_box(box)}" for box in chart.boxes if box.column == column]
        lines.append("  end")
    for arrow in chart.arrows:
        label = f"|{_escaped(arrow.label)}|" if arrow.label else ""
        lines.append(f"  {arrow.start} -->{label} {arrow.end}")
    return "\n".join(lines) + "\n"


def _box(box: Box) -> str:
    opening, closing = _SHAPES[box.kind]
    text = "<br/>".join(_escaped(line) for line in (box.title, *box.lines))
    return f'{box.name}{opening}"{text}"{closing}'


def _escaped(text: str) -> str:
    return "".join(_ENTITIES.get(letter, letter) for letter in text)
