"""The helpers of `toolmd.testing` for authors of tools."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from workspace_shop import skill, tool, word

from toolmd import ArgumentError, Context
from toolmd.hooks import hookimpl
from toolmd.testing import FOLDER, FakeClock, ScriptedModel, memory_workspace


class Till:
    def __init__(self) -> None:
        self.sum = 0


def test_a_workspace_is_made_of_texts_and_functions() -> None:
    async def greet(name: str) -> dict[str, str]:
        return {"said": f"Hello {name}"}

    with memory_workspace({"greet.tool.md": tool("greet", word("name"))}, [greet]) as ws:
        assert ws.diagnostics == ()
        assert ws.call_sync("greet", {"name": "Ada"}).data == {"said": "Hello Ada"}
        root = ws.settings.root

    assert not root.exists()


def test_resources_are_passed_by_type() -> None:
    def pay(*, till: Till) -> dict[str, int]:
        till.sum += 1
        return {"sum": till.sum}

    till = Till()
    with memory_workspace({"pay.tool.md": tool("pay")}, [pay], resources={Till: till}) as ws:
        ws.call_sync("pay")
        ws.call_sync("pay")

    assert till.sum == 2


def test_a_function_that_differs_is_reported() -> None:
    def greet(nam: str) -> dict[str, str]: ...

    with memory_workspace({"greet.tool.md": tool("greet", word("name"))}, [greet]) as ws:
        assert {d.code for d in ws.diagnostics} == {"parameter-drift"}


def test_definitions_can_change_while_it_runs() -> None:
    with memory_workspace({"a.tool.md": tool("a")}, {"a": dict, "b": dict}) as ws:
        (ws.settings.root / FOLDER / "b.tool.md").write_text(tool("b"))
        ws.reload()

        assert list(ws.tools) == ["a", "b"]


def test_plugins_and_settings_are_passed_as_arguments() -> None:
    class Gives:
        @hookimpl
        def toolmd_implementation(self, spec):
            return lambda: {"by": spec.name}

    with memory_workspace(
        {"a.tool.md": tool("a")}, plugins={"gives": Gives()}, overrides={"safety.floor": 0.5}
    ) as ws:
        assert ws.call_sync("a", confidence=0.6).data == {"by": "a"}
        assert ws.settings.safety.floor == 0.5


def test_a_fake_clock_moves_only_when_advanced() -> None:
    clock = FakeClock(dt.datetime(2026, 1, 1, tzinfo=dt.UTC))
    steps = "1. **Return**:\n   - at: `string(now())`"
    with memory_workspace({"tell.skill.md": skill("tell", "", steps)}, clock=clock) as ws:
        before = ws.run_sync("tell").data["at"]
        clock.advance(61)
        after = ws.run_sync("tell").data["at"]

    assert (before, after) == ("2026-01-01T00:00:00Z", "2026-01-01T00:01:01Z")


def test_a_scripted_model_returns_its_replies_and_records_its_requests() -> None:
    model = ScriptedModel("first", {"second": 2})

    async def talk() -> list[object]:
        return [await model("a"), await model("b")]

    assert asyncio.run(talk()) == ["first", {"second": 2}]
    assert model.heard == ["a", "b"]
    with pytest.raises(AssertionError, match="no more"):
        asyncio.run(talk())


@pytest.mark.parametrize("leads", ["../a.tool.md", "b/../../a.tool.md", "{there}/a.tool.md"])
def test_a_definition_outside_of_the_workspace_is_an_error(tmp_path: Path, leads: str) -> None:
    with pytest.raises(ArgumentError, match="definitions must stay in the workspace"):
        memory_workspace({leads.format(there=tmp_path): tool("a")})

    assert not [*tmp_path.iterdir()]


def test_an_approved_call_sends_its_events() -> None:
    async def tie(*, context: Context) -> AsyncIterator[dict[str, int]]:
        yield {"part": 1}
        await context.progress("half", 0.5)
        yield {"part": 2}

    text = tool("tie") + "\n## Safety\n\n- **Requires Confirmation**: true\n"
    heard: list[object] = []
    with memory_workspace({"tie.tool.md": text}, [tie]) as ws:
        asked = ws.call_sync("tie", on_event=heard.append).confirmation
        assert heard == []
        result = ws.confirmations.approve_sync(asked.id, on_event=heard.append)

    assert result.data == {"part": 2}
    assert [event.kind for event in heard] == ["item", "progress", "item"]
