"""A skill as a graph: its steps and the paths between them, as Mermaid text and as SVG."""

from toolmd._skills.graph.chart import Chart, chart_of
from toolmd._skills.graph.mermaid import mermaid
from toolmd._skills.graph.states import WORDS, states_of, step_id
from toolmd._skills.graph.style import STYLE
from toolmd._skills.graph.svg import svg

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
