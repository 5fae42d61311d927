"""A skill as a picture."""

import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_world import skill

from toolmd._parse import parse_skill
from toolmd._skills.graph import STYLE, WORDS, chart_of, mermaid, svg
from toolmd._types.skill import SkillSpec

HERE = Path(__file__).parent


def example() -> SkillSpec:
    text = (HERE / "schedule-appointment.skill.md").read_text(encoding="utf-8")
    spec, _ = parse_skill(text, "schedule-appointment.skill.md")
    assert spec is not None
    return spec


UNDER_WAY = {"1": "done", "2": "done", "3": "done", "4": "waiting"}


@pytest.mark.parametrize(
    ("draw", "states", "name"),
    [
        (mermaid, {}, "example.mmd"),
        (svg, {}, "example.svg"),
        (mermaid, UNDER_WAY, "under-way.mmd"),
        (svg, UNDER_WAY, "under-way.svg"),
    ],
)
def test_the_drawing_of_the_example_is_the_golden_file(draw, states, name: str) -> None:
    golden = (HERE / "golden" / name).read_text(encoding="utf-8")
    assert draw(chart_of(example()), states) == golden


def test_the_drawing_is_xml_with_every_step_and_no_script() -> None:
    spec = example()
    root = ET.fromstring(svg(chart_of(spec)))
    words = "".join(root.itertext())
    for section in spec.workflow_sections:
        for step in section.steps:
            assert step.title in words
    assert not [node for node in root.iter() if node.tag.endswith("script")]


def nodes(drawing: str, mark: str) -> list[ET.Element]:
    """Return the elements of a class."""
    every = ET.fromstring(drawing).iter()
    return [node for node in every if mark in node.get("class", "").split()]


def test_each_step_is_an_element_with_its_state() -> None:
    drawing = svg(chart_of(example()), UNDER_WAY)
    steps = nodes(drawing, "step")
    assert [step.get("data-step") for step in steps] == [
        "1", "2", "3", "4", "5", "6", "No slots/1", "No slots/2"
    ]  # fmt: skip
    assert len({step.get("id") for step in steps}) == len(steps)
    assert steps[3].get("class") == "step use waiting"
    assert [node.text for node in nodes(drawing, "state")][:5] == ["done"] * 3 + ["waits", None]
    taken = [(n.get("data-from"), n.get("data-to")) for n in nodes(drawing, "taken")]
    assert taken == [("1", "2"), ("2", "3"), ("3", "4")]


def test_a_drawing_for_a_page_brings_no_style_and_ids_of_its_own() -> None:
    drawing = svg(chart_of(example()), UNDER_WAY, standalone=False)
    root = ET.fromstring(drawing)
    assert not [node for node in root.iter() if node.tag.endswith("style")]
    assert not [node for node in root.iter() if node.get("style") is not None]
    ids = [node.get("id") for node in root.iter() if node.get("id")]
    assert all(name.startswith("graph-") for name in ids)
    assert len(set(ids)) == len(ids)


def test_a_drawing_has_a_description_for_screen_readers() -> None:
    root = ET.fromstring(svg(chart_of(example()), UNDER_WAY))
    named = {node.get("id"): node.text for node in root.iter() if node.get("id")}
    assert root.get("role") == "img"
    title, told = (named[name] or "" for name in root.get("aria-labelledby", "").split())
    assert title == "Schedule Appointment"
    assert "2. Check availability (use check_availability" in told
    assert "empty: go to No slots" in told
    assert told.endswith("4: waits")


def test_every_state_has_its_look() -> None:
    assert all(f".{state}" in STYLE for state in WORDS)


def test_a_jump_to_another_section_replaces_the_next_step() -> None:
    states = {"1": "done", "2": "done", "No slots/1": "running"}
    drawing = svg(chart_of(example()), states)
    taken = [(n.get("data-from"), n.get("data-to")) for n in nodes(drawing, "taken")]
    assert taken == [("1", "2"), ("2", "No slots/1")]


WORD = st.text(min_size=1, max_size=60).filter(lambda text: text.strip() and "\n" not in text)


@given(st.lists(st.tuples(WORD, st.sampled_from(["use", "go", "stop"])), min_size=1, max_size=8))
def test_any_text_is_drawn_without_overlap(steps) -> None:
    rows = [
        f"{n}. **{' '.join(title.split())}**\n   - **Ask**: {' '.join(title.split())}\n"
        + ("   - **If no**: go to end\n" if kind == "go" else "")
        for n, (title, kind) in enumerate(steps, 1)
    ]
    spec, _ = parse_skill(
        "# T\n\nx.\n\n## Metadata\n\n- **Name**: t\n- **Version**: 1\n- **Category**: c\n\n"
        "## Workflow\n\n"
        + "".join(rows)
        + "\n### Mid\n\n1. **Stop**: x\n\n### End\n\n1. **Stop**: x\n",
        "t.skill.md",
    )
    if spec is None:
        return
    chart = chart_of(spec)
    mermaid(chart)
    drawing = svg(chart)
    root = ET.fromstring(drawing)
    cards = [[int(card.get(name) or "") for name in ("x", "y", "width", "height")]
             for card in nodes(drawing, "card")]  # fmt: skip
    for (x, y, width, height), below in pairwise(cards):
        if x == below[0]:
            assert y + height < below[1]
        assert x + width <= int(root.get("width") or "")
        assert below[1] + below[3] <= int(root.get("height") or "")


def test_markup_in_a_text_is_drawn_as_text() -> None:
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
