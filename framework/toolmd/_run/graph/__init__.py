"""A skill as a picture: its steps and the ways between them, as Mermaid text and as SVG."""

from toolmd._run.graph.chart import Chart, chart_of
from toolmd._run.graph.mermaid import mermaid
from toolmd._run.graph.states import WORDS, states_of, step_id
from toolmd._run.graph.style import STYLE
from toolmd._run.graph.svg import svg

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
