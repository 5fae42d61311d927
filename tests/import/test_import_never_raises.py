"""Any input gives drafts without an error, or a rejection with a reason."""

import json
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from toolmd._import import read_source
from toolmd._parse import parse_skill, parse_tool
from toolmd._types.diagnostic import Severity
from toolmd.importing import Imported

ROOT = Path(__file__).parents[2]
FILES = sorted([*ROOT.glob("skills_md/*.md"), *ROOT.glob("tools_md/*.md"), ROOT / "README.md"])
LINES = [line for file in FILES for line in file.read_text("utf-8").split("\n")]
SIGNS = st.sampled_from(
    [
        *"| ` ( ) { } [ ] ** ≥ ‚â• - : ``` # \\ ' \" ? = 1 … default enum or required {}".split(),
        *["\n", " - ", ": ", "\x00", "9" * 40],
    ]
)


@st.composite
def spoiled(draw: st.DrawFn) -> str:
    """Return some lines of our own files, in any order, with signs put in and letters gone."""
    start = draw(st.integers(0, len(LINES) - 1))
    lines = LINES[start : start + draw(st.integers(5, 60))]
    lines = draw(st.permutations(lines)) if draw(st.booleans()) else list(lines)
    for _ in range(draw(st.integers(0, 12))):
        at = draw(st.integers(0, len(lines) - 1))
        place = draw(st.integers(0, len(lines[at])))
        gone = draw(st.integers(0, 3))
        lines[at] = lines[at][:place] + draw(SIGNS) + lines[at][place + gone :]
    return "\n".join(lines)


def hold(read: Imported) -> None:
    assert read.drafts or read.refused
    for draft in read.drafts:
        parse = parse_tool if draft.kind == "tool" else parse_skill
        path = f"{draft.name.replace('_', '-')}.{draft.kind}.md"
        lines = draft.text.split("\n")
        errors = [d for d in parse(draft.text, path)[1] if d.severity is Severity.ERROR]
        assert all(lines[d.span.line - 1].startswith("- **Restriction ") for d in errors), errors
        decided = "\n".join(line for line in lines if not line.startswith("- **Restriction "))
        spec, found = parse(decided, path)
        assert spec is not None, found


@given(text=spoiled())
def test_a_strange_skill(text: str) -> None:
    hold(read_source("agentskills", f"---\nname: strange\n---\n\n{text}", "strange/SKILL.md"))


KEYWORDS = st.sampled_from(
    "type properties required items enum const anyOf oneOf allOf $ref $defs pattern default "
    "minimum maximum exclusiveMinimum minLength maxItems additionalProperties format description "
    "title examples nullable not multipleOf uniqueItems x-unit".split()
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["string", "object", "array", "integer", "null", "#/$defs/a", "#", "(", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(KEYWORDS, inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b-c", "d e", "", "$x"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=3 * settings.default.max_examples)
@given(schema=VALUES, description=VALUES)
@example({"const": 0, "minimum": None, "exclusiveMinimum": 0}, None)
def test_a_strange_schema(schema: Any, description: Any) -> None:
    entry = {"name": "strange", "description": description, "parameters": schema}
    hold(read_source("openai", json.dumps([{"type": "function", "function": entry}]), "-"))
    server = {"name": "strange", "inputSchema": schema, "outputSchema": schema, "_meta": schema}
    hold(read_source("mcp", json.dumps({"tools": [{**server, "annotations": schema}]}), "-"))


@given(field=VALUES)
def test_a_strange_parameter(field: Any) -> None:
    schema = {"type": "object", "properties": {"a": field, "b": {"$ref": "#/properties/a"}}}
    entry = {"name": "strange", "description": "x", "parameters": schema}
    hold(read_source("openai", json.dumps([{"type": "function", "function": entry}]), "-"))
