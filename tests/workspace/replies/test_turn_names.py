"""The names that a model writes: as they were exported, or nearly."""

import pytest
from turn_world import chat, inline

from toolmd._export.targets import export
from toolmd._types.diagnostic import Source
from toolmd._types.registry import Bound, Registry
from toolmd._types.schema import Schema
from toolmd._types.tool import ToolSpec
from toolmd._workspace.names import Names

LONG = [f"{'a_very_long_name_' * 5}{end}" for end in ("one", "two")]
"""Definitions have shorter names; plugins may bring others."""


def named(name):
    spec = ToolSpec(
        name=name,
        title=name,
        description="A tool.",
        version="1.0.0",
        category="test",
        returns=Schema(),
        source=Source(f"{name}.tool.md", 1),
    )
    return Bound(name, spec)


@pytest.mark.parametrize("target", ["openai", "openai-responses", "anthropic", "gemini", "mcp"])
def test_a_name_as_it_was_exported_finds_its_tool(target):
    tools = {name: named(name) for name in (*LONG, "größe", "2nd", "a.b")}
    names = Names(Registry(tools=tools))
    items = export(target, [bound.spec for bound in tools.values()]).items
    for item, name in zip(items, tools, strict=True):
        exported = item.get("name") or item["function"]["name"]
        assert names.find(exported).name == name
    assert names.find(LONG[0][:64]) is None


@pytest.mark.parametrize("name", ["ask-first", "ask_first"])
def test_a_hyphen_may_stand_for_an_underscore(world, name):
    assert [p.tool for p in world.handle(inline(name, word="a")).pending] == ["ask_first"]


@pytest.mark.parametrize("name", ["Say", "say ", "functions.say", "sayy", "", "greet_in_prose"])
def test_any_other_name_is_unknown(world, name):
    turn = world.handle(chat((name, {"word": "a"})))
    code = "malformed_call" if not name else "unknown_tool"
    assert [r.error.code for r in turn.results] == [code]
    assert world.ran == []


@pytest.mark.parametrize("name", ["greet_in_prose", "greet-in-prose"])
def test_a_call_of_a_prose_skill_is_denied_as_a_skill(world, name):
    (result,) = world.handle(inline(name, word="a")).results
    assert (result.outcome, result.error.code) == ("denied", "unknown_tool")
    assert result.error.message == (
        "'greet_in_prose' is a skill: run it with `toolmd run greet_in_prose`."
    )


def test_an_unknown_name_is_answered_with_the_nearest(world):
    (result,) = world.handle(inline("ask_frist", word="a")).results
    assert "ask_first" in result.error.message
