"""A skill as a picture: its steps and the ways between them, as Mermaid text and as SVG."""

from toolmark._run.graph.chart import Chart, chart_of
from toolmark._run.graph.mermaid import mermaid
from toolmark._run.graph.states import WORDS, states_of, step_id
from toolmark._run.graph.style import STYLE
from toolmark._run.graph.svg import svg

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
