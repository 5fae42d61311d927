"""A skill as a picture."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from run_world import skill

from toolmark._model.skill import SkillSpec
from toolmark._parse import parse_skill
from toolmark._run.graph import chart_of, mermaid, svg

HERE = Path(__file__).parent


def example() -> SkillSpec:
    text = (HERE / "schedule-appointment.skill.md").read_text(encoding="utf-8")
    spec, _ = parse_skill(text, "schedule-appointment.skill.md")
    assert spec is not None
    return spec


@pytest.mark.parametrize(("draw", "name"), [(mermaid, "example.mmd"), (svg, "example.svg")])
def test_the_example_is_drawn_as_it_stands(draw, name: str) -> None:
    assert draw(chart_of(example())) == (HERE / "golden" / name).read_text(encoding="utf-8")


def test_the_drawing_is_xml_that_holds_every_step_and_no_script() -> None:
    spec = example()
    root = ET.fromstring(svg(chart_of(spec)))
    words = "".join(root.itertext())
    for section in spec.workflow_sections:
        for step in section.steps:
            assert step.title in words
    assert not [node for node in root.iter() if node.tag.endswith("script")]


def test_text_that_means_something_to_a_drawing_is_only_text() -> None:
    nasty = '"]-->x["<script>alert(1)</script>`#quot;'
    spec = skill(f"1. **Stop**: {nasty}\n2. **A & B <b>**\n   - **Ask**: {nasty} \x07?\n")
    ET.fromstring(svg(chart_of(spec)))
    drawn = mermaid(chart_of(spec))
    assert "<script" not in drawn
    assert drawn.count('"') % 2 == 0
    assert '"]-->x["' not in drawn


def test_ways_lead_to_the_first_step_of_their_section() -> None:
    spec = skill(
        "1. **Ask**\n   - **Ask**: Go on?\n   - **If no**: go to end\n"
        "2. **Maybe**\n   - **When**: `true`\n   - **Stop**: Enough.\n3. **Return**: Done.\n"
        "\n### End\n\n1. **Stop**: Ended.\n"
    )
    arrows = [tuple(arrow) for arrow in chart_of(spec).arrows]
    assert arrows == [
        ("s0_0", "s0_1", ""),
        ("s0_0", "s1_0", "no"),
        ("s0_1", "s0_2", "else"),
    ]
