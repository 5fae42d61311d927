"""`import catalog --model`: a model adds what the text holds and the reader could not read."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.command import Ended, run_command

from toolmd import ToolSpec, parse_tool
from toolmd.importing import Imported
from toolmd.testing import ModelServer, RawReply
from toolmd_catalog.reader import read

HANDBOOK = """# Tools of the greenhouse

## water_bed

Water one bed.

Params:
- bed: which bed
- mode: "spray" | "drip" (optional)
- note

The amount is given in litres, from 1 to 200, and is always needed. Only the gardener may water
at night.

**Safety**: requires confirmation if amount > 100

## find_beds(plant: string, most?: int = 10)

Find the beds, at a height in cm.
"""
AMOUNT = {
    "name": "amount", "type": "integer", "required": True, "minimum": 1, "maximum": 200,
    "quote": "The amount is given in litres, from 1 to 200, and is always needed.",
}  # fmt: skip
BED = {"name": "bed", "type": "integer", "required": True, "quote": "- bed: which bed"}


def answer(*parameters: Any, tool: str = "water_bed") -> dict[str, Any]:
    return {"tools": [{"name": tool, "parameters": list(parameters)}]}


def drafts(made: Imported) -> dict[str, ToolSpec]:
    """Return the drafts, without the lines that `check` rejects."""
    found = {}
    for draft in made.drafts:
        text = re.sub(r"(?m)^- \*\*(Guessed )?Restriction \d+\*\*:.*\n", "", draft.text)
        spec, problems = parse_tool(text, f"{draft.name.replace('_', '-')}.tool.md")
        assert spec is not None, problems
        found[spec.name] = spec
    return found


def guesses(made: Imported) -> list[str]:
    text = "".join(draft.text for draft in made.drafts)
    return re.findall(r"(?m)^- \*\*Guessed Restriction \d+\*\*: (.*)$", text)


def asked(value: Any) -> Imported:
    return read(HANDBOOK, "handbook.md", lambda *_: value)


PLAIN = read(HANDBOOK, "handbook.md")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "toolmd.toml").write_text("", "utf-8")
    (tmp_path / "handbook.md").write_text(HANDBOOK, "utf-8")
    return tmp_path


def command(project: Path, url: str, *words: str) -> Ended:
    environ = {"TOOLMD_LOAD_PLUGINS": "toolmd-catalog", "TOOLMD_CHAT_BASE_URL": url}
    return run_command(project, *words, **environ)


def test_a_model_fills_in_what_the_text_says_and_check_fails_until_a_person_looked(
    project: Path,
) -> None:
    with ModelServer(json.dumps(answer(AMOUNT, BED))) as server:
        done = command(project, server.base_url, "import", "catalog", "handbook.md", "--model", "m")
    (request,) = server.heard

    assert done.code == 0, done.err
    assert request["model"] == "m"
    assert request["messages"][1] == {"role": "user", "content": HANDBOOK}
    assert "water_bed" not in request["messages"][0]["content"]
    text = (project / "tools_md/water-bed.tool.md").read_text("utf-8")
    assert (
        "- **Guessed Restriction 1**: amount is integer, required, minimum 1, maximum 200" in text
    )
    assert "- **Guessed Restriction 2**: bed is integer; it quotes line 8" in text
    assert "### amount\n\n- **Type**: integer\n- **Required**: true\n" in text
    assert "a model guessed that bed is integer" in done.err
    checked = command(project, server.base_url, "check", "tools_md/water-bed.tool.md")
    assert checked.code == 1
    assert "'Guessed Restriction 1' waits for a decision" in checked.out


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("I can't help with that.", "not JSON"),
        ('{"tools": 7}', "does not follow the schema"),
        (RawReply(500, "no"), "is not available (500)"),
        (RawReply(401, "{}"), "the key"),
    ],
)
def test_without_a_usable_answer_there_is_the_draft_without_it_and_a_note(
    project: Path, reply: Any, said: str
) -> None:
    with ModelServer(*[reply] * 3) as server:
        done = command(project, server.base_url, "import", "catalog", "handbook.md", "--model", "m")

    assert done.code == 0
    assert "note: the model added nothing:" in done.err
    assert said in done.err
    written = (project / "tools_md/water-bed.tool.md").read_text("utf-8")
    assert written in [draft.text for draft in PLAIN.drafts]


def test_no_model_is_asked_where_none_is_named_or_none_is_needed(project: Path) -> None:
    with ModelServer() as server:
        command(project, server.base_url, "import", "catalog", "handbook.md")
        (project / "tools.json").write_text("[]")
        exact = command(project, server.base_url, "import", "openai", "tools.json", "--model", "m")

    assert server.heard == []
    assert exact.code == 2
    assert "leave out --model" in exact.err


def test_a_missing_key_is_an_error_before_anything_is_sent(project: Path) -> None:
    done = command(project, "https://api.example.com/v1", "import", "catalog", "handbook.md",
                   "--model", "m")  # fmt: skip

    assert done.code == 2
    assert "OPENAI_API_KEY is not set" in done.err
    assert not (project / "tools_md").exists()


@pytest.mark.parametrize(
    ("tool", "given", "why"),
    [
        ("water_bed", {**AMOUNT, "quote": "The amount is given in gallons."}, "not in the text"),
        ("water_bed", {**AMOUNT, "name": "speed"}, "has no such name"),
        ("water_bed", {**AMOUNT, "maximum": 500}, "does not have 500"),
        ("water_bed", {**BED, "enum": ["which", "nowhere"]}, "does not have 'nowhere'"),
        ("prune", BED, "was not found: 'prune'"),
    ],
)
def test_what_the_text_does_not_hold_is_left_out_and_noted(
    tool: str, given: Mapping[str, Any], why: str
) -> None:
    made = asked(answer(given, tool=tool))

    assert any(why in note.text for note in made.notes)
    text = "".join(draft.text for draft in made.drafts)
    assert not [word for word in ("gallons", "speed", "500", "nowhere") if word in text]


@pytest.mark.parametrize(
    "given",
    [
        {"name": "bed", "required": False, "quote": "- bed: which bed"},
        {"name": "mode", "type": "integer", "quote": '- mode: "spray" | "drip" (optional)'},
        {"name": "mode", "enum": ["spray"], "quote": '- mode: "spray" | "drip" (optional)'},
        {"name": "mode", "required": True, "quote": '- mode: "spray" | "drip" (optional)'},
    ],
)
def test_what_was_read_is_never_changed(given: Mapping[str, Any]) -> None:
    assert asked(answer(given)).drafts == PLAIN.drafts


def test_a_signature_names_all_parameters_and_their_types() -> None:
    quote = "Find the beds, at a height in cm."
    more = {"name": "height", "type": "integer", "quote": quote}
    most = {"name": "most", "type": "string", "required": True, "quote": "most?: int = 10"}

    assert asked(answer(more, most, tool="find_beds")).drafts == PLAIN.drafts


def test_a_guess_does_not_weaken_the_confirmation_that_the_reader_could_not_compute() -> None:
    assert drafts(asked(answer(AMOUNT)))["water_bed"].safety.requires_confirmation


_WORDS = st.sampled_from(
    [
        "water_bed",
        "find_beds",
        "bed",
        "note",
        "amount",
        "speed",
        "at_night",
        "mode",
        "Only",
        "plant",
    ]
)
_QUOTES = st.sampled_from(
    ["- bed: which bed", "- note", AMOUNT["quote"], "Only the gardener may water at night.", "no"]
) | st.text(max_size=9)
_PARAMETERS = st.fixed_dictionaries(
    {"name": _WORDS | st.text(max_size=9), "quote": _QUOTES},
    optional={
        "type": st.sampled_from(["integer", "number", "boolean", "array", "object", "x"]),
        "required": st.booleans() | st.none(),
        "enum": st.lists(_WORDS | st.integers(0, 300) | st.none(), max_size=3),
        "minimum": st.integers(-5, 300) | st.floats() | st.text(max_size=3),
        "maximum": st.integers(-5, 300) | st.booleans(),
    },
)
_TOOLS = st.fixed_dictionaries({"name": _WORDS, "parameters": st.lists(_PARAMETERS, max_size=5)})
_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["tools", "name", "parameters", "quote"]), inner)
    ),
    max_leaves=6,
)
_ANSWERS = st.fixed_dictionaries({"tools": st.lists(_TOOLS | _JSON, max_size=3)}) | _JSON


@given(_ANSWERS)
def test_any_answer_only_adds_what_stands_in_the_text(value: Any) -> None:
    made = asked(value)

    before, now = drafts(PLAIN), drafts(made)
    assert before.keys() == now.keys()
    changed = 0
    for name, spec in now.items():
        old = {one.name: one for one in before[name].parameters}
        same = {"parameters": (), "source": before[name].source}
        assert spec.model_copy(update=same) == before[name].model_copy(update=same)
        assert list(old) == [one.name for one in spec.parameters][: len(old)]
        for one in spec.parameters:
            changed += one != old.get(one.name)
            _assert_stands(one.name.replace("_", " "), HANDBOOK.replace("_", " "))
            known = old.get(one.name)
            if known is not None:
                assert one.required or not known.required
                assert one.shape.types == known.shape.types or one.name in {"bed", "note"}
                assert known.shape.enum in {None, one.shape.enum}
                assert known.shape.minimum in {None, one.shape.minimum}
            for told in (one.shape.minimum, one.shape.maximum, *(one.shape.enum or ())):
                if told is not None:
                    _assert_stands(f"{told:g}" if not isinstance(told, str) else told, HANDBOOK)
    assert changed <= len(guesses(made))
    kept = [line for draft in PLAIN.drafts for line in draft.text.splitlines()]
    text = "".join(draft.text for draft in made.drafts)
    assert all(line in text for line in kept if line.startswith("- **Restriction"))


def _assert_stands(told: str, text: str) -> None:
    assert re.search(rf"(?<!\w){re.escape(told)}(?!\w)", text, re.IGNORECASE), told
