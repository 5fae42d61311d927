"""`import text`: a model drafts tools, and the text holds a quotation for all that enters."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.command import Ended, run_command

from toolmd import parse_tool
from toolmd._import import draft
from toolmd.testing import ModelServer, RawReply

HANDBOOK = """# Tools of the greenhouse

## water_bed

Water one bed with `water_bed`. The amount is given in litres, from 1 to 200, and is always needed.
The mode is "spray" or "drip". At least 0.8 confidence; a person must confirm each call.
Only the gardener may water at night.
"""
AMOUNT = {
    "name": "amount", "type": "integer", "required": True, "minimum": 1, "maximum": 200,
    "quote": "The amount is given in litres, from 1 to 200, and is always needed.",
}  # fmt: skip
MODE = {"name": "mode", "type": "string", "enum": ["spray", "drip"],
        "quote": 'The mode is "spray" or "drip".'}  # fmt: skip
SURE = {"key": "min_confidence", "value": 0.8, "quote": "At least 0.8 confidence"}
ASKS = {"key": "requires confirmation", "value": True, "quote": "a person must confirm each call"}


def answer(*parameters: Any, **more: Any) -> dict[str, Any]:
    tool = {"name": "water_bed", "quote": "Water one bed with water_bed."}
    return {"tools": [{**tool, "parameters": list(parameters), **more}]}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "toolmd.toml").write_text("", "utf-8")
    (tmp_path / "handbook.md").write_text(HANDBOOK, "utf-8")
    return tmp_path


def command(project: Path, *words: str, url: str = "http://127.0.0.1:9/v1") -> Ended:
    return run_command(project, *words, TOOLMD_LOAD_PLUGINS="", TOOLMD_CHAT_BASE_URL=url)


def run_import(project: Path, reply: Any) -> tuple[Ended, Any]:
    """Import the handbook with a model that gives one answer; return the end and the request."""
    text = reply if isinstance(reply, str | RawReply) else json.dumps(reply)
    with ModelServer(*[text] * 3) as server:
        done = command(project, "import", "text", "handbook.md", "--model", "m",
                       url=server.base_url)  # fmt: skip
    return done, server.heard[0]


def drafted(value: Any) -> Any:
    return draft(HANDBOOK, lambda *_: json.dumps(value))


def test_a_model_drafts_what_the_text_holds(project: Path) -> None:
    fenced = f"```json\n{json.dumps(answer(AMOUNT, MODE, restrictions=[SURE, ASKS]))}\n```"
    done, request = run_import(project, fenced)

    assert done.code == 0, done.err
    assert done.out == "made tools_md/water-bed.tool.md\n"
    assert (request["model"], request["messages"][1]["content"]) == ("m", HANDBOOK)
    assert "greenhouse" not in request["messages"][0]["content"]
    shown = json.loads(command(project, "show", "water_bed", "--json").out)
    fields = shown["input_schema"]["properties"]
    assert (fields["amount"]["minimum"], fields["amount"]["maximum"]) == (1, 200)
    assert fields["mode"]["enum"] == ["spray", "drip"]
    assert shown["input_schema"]["required"] == ["amount"]
    assert shown["safety"]["min_confidence"] == 0.8
    assert shown["safety"]["requires_confirmation"] is True
    assert command(project, "check").code == 0


@pytest.mark.parametrize(
    "restriction",
    [
        {"key": "only_for", "value": "gardener", "quote": "Only the gardener may water at night."},
        {"key": "rate", "value": "each call", "quote": "a person must confirm each call"},
    ],
    ids=["no such field", "no such value"],
)
def test_a_restriction_that_no_field_holds_makes_the_draft_fail(
    project: Path, restriction: Any
) -> None:
    done, _ = run_import(project, answer(AMOUNT, restrictions=[restriction]))

    assert "`check` fails until you decide" in done.err
    assert command(project, "check").code == 1


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({**AMOUNT, "quote": "The amount is given in gallons."}, "no such quotation"),
        ({**AMOUNT, "name": "speed"}, "no such quotation"),
        ({**AMOUNT, "maximum": 500}, "does not have maximum 500"),
        ({**AMOUNT, "maxLength": 7}, "does not have maxLength 7"),
        ({**MODE, "enum": ["spray", "mist"]}, "does not have 'mist'"),
        ({**MODE, "default": "mist"}, "does not have default 'mist'"),
    ],
    ids=["quote", "name", "bound", "length", "value", "default"],
)
def test_what_is_not_quoted_does_not_enter(given: Any, why: str) -> None:
    made = drafted(answer(given))

    (one,) = made.drafts
    assert any(why in note.text for note in made.notes)
    words = ("gallons", "speed", "500", "Max Length", "mist")
    assert not [word for word in words if word in one.text]


@pytest.mark.parametrize("quote", ["", "Water two beds.", "The mode is"])
def test_a_tool_that_the_text_does_not_name_is_not_drafted(quote: str) -> None:
    made = drafted({"tools": [{"name": "water_bed", "quote": quote}]})

    assert made.drafts == ()
    assert "no such quotation with this name" in made.refused[0].text


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("I can't help with that.", "not valid JSON"),
        ('{"tools": 7}', "has no list `tools`"),
        ('{"tools": []}', "found no tool"),
        (RawReply(401, "{}"), "the key"),
    ],
    ids=["words", "form", "nothing", "key"],
)
def test_without_a_usable_answer_nothing_is_written(project: Path, reply: Any, said: str) -> None:
    done, _ = run_import(project, reply)

    assert done.code != 0
    assert said in done.err
    assert not (project / "tools_md").exists()


def test_only_text_is_read_by_a_model_and_the_model_is_named(project: Path) -> None:
    without = command(project, "import", "text", "handbook.md")
    exact = command(project, "import", "openai", "handbook.md", "--model", "m")
    keyless = run_command(project, "import", "text", "handbook.md", "--model", "m",
                          TOOLMD_CHAT_BASE_URL="https://api.example.com/v1")  # fmt: skip

    assert (without.code, exact.code, keyless.code) == (2, 2, 2)
    assert "--model NAME" in without.err
    assert "leave out --model" in exact.err
    assert "OPENAI_API_KEY is not set" in keyless.err


_VALUES = st.sampled_from(
    ["water_bed", "amount", "mode", "speed", "spray", 1, 200, 500, True, None, -1.5, "0.8", [], {}]
)
_QUOTES = st.sampled_from([AMOUNT["quote"], MODE["quote"], SURE["quote"], "no", "", HANDBOOK])
_PARTS = st.lists(
    st.dictionaries(
        st.sampled_from(["name", "key", "value", "type", "required", "enum", "minimum", "default"]),
        _VALUES | st.lists(_VALUES, max_size=2),
    ).flatmap(lambda one: _QUOTES.map(lambda quote: {**one, "quote": quote})),
    max_size=3,
)


@given(parameters=_PARTS | _VALUES, restrictions=_PARTS | _VALUES)
def test_any_answer_gives_drafts_of_what_stands_in_the_text(
    parameters: Any, restrictions: Any
) -> None:
    tool = {**answer()["tools"][0], "parameters": parameters, "restrictions": restrictions}

    for one in drafted({"tools": [tool]}).drafts:
        spec, _ = parse_tool(one.text, "water-bed.tool.md")
        for parameter in () if spec is None else spec.parameters:
            assert parameter.name in {"amount", "mode", "spray", "water_bed"}
            assert parameter.shape.minimum in {None, 1, 200, 0.8}
