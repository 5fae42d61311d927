"""The public names: each is imported on first use, and nothing heavy before."""

import copy
import json
import pickle
import subprocess
import sys
from collections.abc import Callable

import pytest

import toolmd
from toolmd import (
    Answer,
    ArgumentError,
    Call,
    Caller,
    Confirmation,
    Decision,
    Event,
    Exchange,
    Failure,
    Image,
    MalformedReplyError,
    ModelError,
    NotFoundError,
    Parsed,
    Result,
    SkillResult,
    ToolError,
    Turn,
    parse_skill,
    parse_tool,
)


def run(code: str) -> str:
    """Run Python of its own; gives what it printed."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_public_name_exists() -> None:
    for name in toolmd.__all__:
        assert getattr(toolmd, name) is not None, name
    assert set(toolmd.__all__) <= set(dir(toolmd))
    assert toolmd.__version__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_of_it"):
        toolmd.nothing_of_it  # noqa: B018


def test_the_import_alone_brings_nothing_with_it() -> None:
    heavy = "pydantic", "pluggy", "asyncio", "markdown_it", "toolmd._types"

    loaded = run(f"import sys, toolmd; print([m for m in {heavy!r} if m in sys.modules])")

    assert loaded.strip() == "[]"


def test_a_project_is_opened_without_what_only_calls_need(tmp_path) -> None:
    (tmp_path / "tools_md").mkdir()
    heavy = "asyncio", "markdown_it", "httpx", "rich", "celpy", "typer"
    code = (
        f"import sys, toolmd; ws = toolmd.Workspace.open({str(tmp_path)!r},"
        " overrides={'plugins': []}); ws.registry.diagnostics;"
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )

    assert run(code).strip() == "[]"


def test_a_diagnostic_has_the_fields_of_its_json() -> None:
    _, (found, *_) = parse_tool("# A\n\nB.\n", "a.tool.md")
    for name, value in found.to_dict().items():
        if name not in {"help", "fix"}:
            assert getattr(found, name) == value


def test_a_skills_steps_are_those_of_its_canonical_json() -> None:
    text = (
        "# A\n\nB.\n\n## Metadata\n\n- **Name**: a\n- **Version**: 1.0.0\n- **Category**: c\n\n"
        "## Workflow\n\n1. **Say it**\n   - **Return**: word: `word`\n\n"
        "## Input Schema\n\n### word\n\n- **Type**: string\n- **Required**: true\n"
        "- **Description**: w\n\n## Output Schema\n\n- **Type**: object\n"
    )
    spec, _ = parse_skill(text, "a.skill.md")
    assert spec is not None
    assert spec.steps == spec.canonical["steps"]
    assert spec.steps[0]["title"] == "Say it"


PIN = "4711-0815"


def holding_a_secret() -> list[object]:
    """Return a value of each public type that contains what people, models and tools write."""
    caller = Caller("ana", {}, PIN)
    call = Call("pay", {"pin": PIN}, caller=caller)
    truncated = {"rows": True, "next": {"pin": PIN}}
    result = Result(True, "pay", "ok", PIN, {"pin": PIN}, truncated=truncated)
    return [
        caller,
        call,
        call._replace(arguments=json.dumps(call.arguments)),
        Confirmation("c-1", "confirm", call, "", "Pay?", "high", 0.0, None),
        result,
        SkillResult(success=True, message=PIN, data={"pin": PIN}),
        Event("item", "pay", None, {"pin": PIN}),
        Answer(approved=True, text=PIN, arguments={"pin": PIN}),
        Decision.edit({"pin": PIN}),
        Decision.respond(PIN),
        Parsed(PIN, (call,)),
        Turn(PIN, (result,)),
        Exchange(PIN, (PIN,), (result,)),
    ]


def test_a_repr_shows_no_value_that_may_be_sensitive() -> None:
    assert [type(one).__name__ for one in holding_a_secret() if PIN in repr(one)] == []


def a_result() -> Result:
    """Return the result of a call that waits for a person."""
    waiting = Confirmation("c1", "Is this correct?", call=Call("greet", {}), shown={"name": "Ada"})
    failure = Failure("invalid_arguments", "name is missing")
    return Result(False, "greet", "confirm", "", {"a": [1]}, failure, confirmation=waiting,
                  waiting=(waiting,))  # fmt: skip


VALUES = {
    "Result": a_result(),
    "Result of parts": a_result()._replace(parts={0: Image(b"x", "image/png")}),
    "Call": Call("greet", {"name": "Ada"}, caller=Caller("ana", {"patient": "p1"})),
    "Confirmation": Confirmation("c1", "Sure?", call=Call("greet", {})),
    "ToolSpec": parse_tool("# A\n\nDo.\n\n## Parameters\n\n### n\n\n- **Type**: integer\n", "a.md")[
        0
    ],
    "Diagnostic": parse_tool("", "a.tool.md")[1],
    "ArgumentError": ArgumentError("limit", "must be a whole number"),
    "ModelError": ModelError("no answer", code="timeout", retry_after_s=2.0),
    "NotFoundError": NotFoundError("no tool 'a'"),
    "ToolError": ToolError("No room.", code="no_room"),
    "MalformedReplyError": MalformedReplyError("bad", clean_message="Hi"),
}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_a_public_value_can_be_copied_and_sent_to_another_process(
    name: str, copied: Callable[[object], object]
) -> None:
    value = VALUES[name]
    twin = copied(value)

    assert type(twin) is type(value)
    if isinstance(value, Exception):
        assert (str(twin), vars(twin)) == (str(value), vars(value))
    else:
        assert twin == value
