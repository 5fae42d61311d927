"""A skill as a graph: its steps and the paths between them, as Mermaid text and as SVG."""

from toolmd._skills.graph.chart import WORDS, Chart, chart_of, mermaid, states_of, step_id
from toolmd._skills.graph.svg import STYLE, svg

__all__ = [
    "STYLE",
    "WORDS",
    "Chart",
    "chart_of",
    "mermaid",
    "states_of",
    "step_id",
    "svg",
]
