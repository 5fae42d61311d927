"""A project is opened, its tools are called, and its errors are reported."""

import asyncio
import threading
from pathlib import Path

import pytest
from workspace_shop import Shop, skill, tool, word

from toolmd import ConfigError, NotFoundError, Result, ToolmdError, Workspace


def test_a_tool_is_called_with_an_object_or_its_json(shop: Shop) -> None:
    shop.tool("greet", "async def greet(name: str): return {'said': f'Hello {name}'}", word("name"))

    with shop.open() as ws:
        by_object = asyncio.run(ws.call("greet", {"name": "Ada"}))
        by_text = asyncio.run(ws.call("greet", '{"name": "Ada"}'))

    assert isinstance(by_object, Result)
    assert by_object.data == by_text.data == {"said": "Hello Ada"}


def test_an_argument_that_cannot_become_the_annotated_type_is_invalid(shop: Shop) -> None:
    shop.tool(
        "book",
        "import datetime as dt\ndef book(time: dt.datetime): return {'hour': time.hour}",
        word("time"),
    )
    ws = shop.open()

    assert ws.call_sync("book", {"time": "2026-01-02T15:00:00"}).data == {"hour": 15}
    refused = ws.call_sync("book", {"time": "after lunch"})
    assert (refused.outcome, refused.error.code) == ("denied", "invalid_arguments")


def test_a_tool_without_python_says_so_when_it_is_called(shop: Shop) -> None:
    shop.write("tools_md/alone.tool.md", tool("alone"))
    ws = shop.open()

    result = ws.call_sync("alone", {})

    assert ws.tools["alone"].binding.kind == "none"
    assert result.error.code == "not_implemented"
    assert "alone.tool.md" in result.error.message


def test_a_broken_file_next_to_good_ones_does_not_hinder_them(shop: Shop) -> None:
    shop.tool("good", "def good(): return {'n': 1}")
    shop.write("tools_md/bad.tool.md", b"\xff\xff")
    shop.tool("drifted", "def drifted(x): ...")
    shop.tool("broken", "import nothing_of_this_name")
    ws = shop.open()

    assert ws.call_sync("good", {}).data == {"n": 1}
    assert {d.code for d in ws.registry.diagnostics} == {"not-utf8"}
    assert {d.code for d in ws.diagnostics} == {
        "not-utf8",
        "parameter-drift",
        "broken-implementation",
    }
    for name in ("drifted", "broken"):
        assert ws.call_sync(name, {}).outcome == "failed"


def test_a_fault_of_a_module_that_two_tools_import_is_reported_once_at_its_line(
    shop: Shop,
) -> None:
    shop.write("tools_md/prices.py", "PRICE = 3\nx = = 1\n")
    for name in ("sell", "buy"):
        shop.tool(name, f"from .prices import PRICE\ndef {name}(): return {{}}")
    ws = shop.open()

    (found,) = ws.diagnostics

    assert (found.span.path, found.span.line) == ("tools_md/prices.py", 2)
    for name in ("sell", "buy"):
        assert "tools_md/prices.py:2" in ws.call_sync(name, {}).error.message


def test_a_plugin_that_is_no_python_is_reported_at_the_line_of_the_error(shop: Shop) -> None:
    shop.write("tools_md/plugin.py", "import os\n\nx = 1 2\n")
    shop.tool("one", "def one(): return {}")

    (found,) = shop.open().diagnostics

    assert (found.code, found.span.line) == ("broken-plugin", 3)


def test_a_broken_plugin_of_a_folder_is_reported_once_and_its_tools_are_denied(shop: Shop) -> None:
    shop.write("toolmd.toml", 'tools = ["tools_md", "more_md"]')
    shop.write("tools_md/plugin.py", "import os\n\nraise OSError('no database')")
    shop.tool("one", "def one(): return {}")
    shop.tool("two", "def two(): return {}")
    shop.write("more_md/three.tool.md", tool("three"))
    shop.write("more_md/three.py", "def three(): return {}")
    ws = shop.open()

    (found,) = ws.diagnostics

    assert (found.code, found.span.path) == ("broken-plugin", "tools_md/plugin.py")
    assert (found.span.line, "no database" in found.help) == (3, True)
    assert ws.call_sync("one", {}).outcome == "denied"
    assert ws.call_sync("one", {}, dry_run=True).outcome == "denied"
    assert ws.call_sync("three", {}).success


def test_a_skill_runs_its_steps_through_the_dispatcher(shop: Shop) -> None:
    shop.tool("greet", "def greet(name): return {'said': f'Hello {name}'}", word("name"))
    steps = (
        "1. **Greet** them.\n   - **Use**: greet\n   - **With**:\n     - name: `who`\n"
        "   - **Save as**: greeting\n\n2. **Return**:\n   - said: `greeting.said`"
    )
    shop.write("skills_md/welcome.skill.md", skill("welcome", "greet", steps, word("who")))
    ws = shop.open()

    result = ws.run_sync("welcome", {"who": "Ada"})

    assert ws.diagnostics == ()
    assert result.success
    assert result.data == {"said": "Hello Ada"}


def test_a_skill_in_python_makes_its_calls_through_the_dispatcher(shop: Shop) -> None:
    shop.tool("greet", "def greet(name): return {'said': f'Hello {name}'}", word("name"))
    text = skill("welcome", "greet", "Greets everyone, in whatever order.", word("who"))
    shop.write("skills_md/welcome.skill.md", text)
    shop.write(
        "skills_md/welcome.py",
        "async def welcome(who, *, context):\n"
        "    bad = await context.call('greet', {'nam': who})\n"
        "    good = await context.call('greet', {'name': who})\n"
        "    return {'bad': bad.error.code, 'good': good.data['said']}\n",
    )
    ws = shop.open()

    result = ws.run_sync("welcome", '{"who": "Ada"}')

    assert ws.diagnostics == ()
    assert result.data == {"bad": "invalid_arguments", "good": "Hello Ada"}


def test_a_skill_with_an_argument_that_its_tool_lacks_does_not_load(shop: Shop) -> None:
    shop.tool("greet", "def greet(name): ...", word("name"))
    steps = "1. **Greet**.\n   - **Use**: greet\n   - **With**:\n     - nam: Ada"
    shop.write("skills_md/welcome.skill.md", skill("welcome", "greet", steps))
    ws = shop.open()

    assert not ws.skills
    assert any(d.severity == "error" for d in ws.registry.diagnostics)
    with pytest.raises(NotFoundError, match="toolmd check"):
        ws.run_sync("welcome", {})


def test_a_skill_that_needs_a_broken_skill_is_broken_too(shop: Shop) -> None:
    shop.tool("greet", "def greet(): ...")
    inner = skill("inner", "greet", "1. **Greet**.\n   - **Use**: gret")
    outer = skill("outer", "greet\n- **Required Skills**: inner", "1. **Go**.\n   - **Use**: inner")
    shop.write("skills_md/inner.skill.md", inner)
    shop.write("skills_md/outer.skill.md", outer)
    ws = shop.open()

    assert not ws.skills
    assert "broken-requirement" in {d.code for d in ws.registry.diagnostics}


def test_resources_are_made_by_the_folders_plugin_and_closed_with_the_workspace(
    shop: Shop,
) -> None:
    shop.write(
        "tools_md/plugin.py",
        "from toolmd.hooks import hookimpl\nfrom ._till import Till\n"
        "@hookimpl\ndef toolmd_resources(registry, settings):\n"
        "    till = Till(settings.root)\n"
        "    registry.register_value(Till, till, on_registry_close=till.close)\n",
    )
    shop.write(
        "tools_md/_till.py",
        "class Till:\n    def __init__(self, root): self.file = root / 'till'; self.n = 0\n"
        "    def close(self): self.file.write_text(str(self.n))\n",
    )
    shop.tool(
        "ring",
        "from ._till import Till\ndef ring(*, till: Till):\n    till.n += 1\n"
        "    return {'n': till.n}\n",
    )
    with shop.open() as ws:
        assert [ws.call_sync("ring", {}).data["n"] for _ in range(3)] == [1, 2, 3]
        assert not (shop.root / "till").exists()

    assert (shop.root / "till").read_text() == "3"


def test_a_resource_of_a_factory_lives_for_one_call(shop: Shop) -> None:
    shop.write(
        "tools_md/plugin.py",
        "from toolmd.hooks import hookimpl\nfrom ._desk import Desk\n"
        "@hookimpl\ndef toolmd_resources(registry):\n"
        "    registry.register_factory(Desk, Desk.made)\n",
    )
    shop.write(
        "tools_md/_desk.py",
        "import contextlib\nclass Desk:\n    made_, left = 0, 0\n"
        "    @classmethod\n    @contextlib.asynccontextmanager\n    async def made(cls):\n"
        "        cls.made_ += 1\n        yield cls()\n        cls.left += 1\n",
    )
    shop.tool(
        "sit",
        "from ._desk import Desk\ndef sit(*, desk: Desk): return [Desk.made_, Desk.left]\n",
    )
    text = (shop.root / "tools_md/sit.tool.md").read_text()
    shop.write("tools_md/sit.tool.md", text.replace("**Type**: object", "**Type**: array"))
    ws = shop.open()

    assert [ws.call_sync("sit", {}).data for _ in range(2)] == [[1, 0], [2, 1]]


def test_a_plugin_that_fails_to_provide_fails_only_calls_that_need_it(shop: Shop) -> None:
    shop.write(
        "tools_md/plugin.py",
        "from toolmd.hooks import hookimpl\n@hookimpl\ndef toolmd_resources(registry):\n"
        "    raise OSError('no disk')\n",
    )
    shop.tool("needs", "import io\ndef needs(*, buffer: io.StringIO): ...")
    shop.tool("free", "def free(): return {}")
    ws = shop.open()

    assert ws.call_sync("needs", {}).outcome == "failed"
    assert ws.call_sync("free", {}).success


def test_the_sync_methods_work_from_any_thread_and_next_to_a_running_loop(shop: Shop) -> None:
    shop.tool("greet", "async def greet(): return {'ok': True}")
    ws = shop.open()
    done: list[bool] = []

    async def inside() -> bool:
        return ws.call_sync("greet", {}).success

    threads = [
        threading.Thread(target=lambda: done.append(ws.call_sync("greet", {}).success))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert done == [True] * 8
    assert asyncio.run(inside())


def test_a_sync_method_within_its_own_tool_raises_instead_of_hanging(shop: Shop) -> None:
    shop.tool("inner", "async def inner(): return {}")
    shop.tool(
        "outer",
        "import sys\nasync def outer():\n    return {'x': sys.modules['toolmd_test'](  )}\n",
    )
    ws = shop.open()
    import sys

    sys.modules["toolmd_test"] = lambda: ws.call_sync("inner", {}).success  # type: ignore[assignment]
    try:
        result = ws.call_sync("outer", {})
    finally:
        del sys.modules["toolmd_test"]

    assert result.outcome == "failed"


def test_a_closed_workspace_accepts_no_call(shop: Shop) -> None:
    shop.tool("greet", "def greet(): return {}")
    ws = shop.open()
    ws.close()
    ws.close()

    with pytest.raises(ToolmdError, match="closed"):
        ws.call_sync("greet", {})
    with pytest.raises(ToolmdError, match="closed"):
        ws.reload()


def test_an_async_workspace_awaits_async_close_methods(shop: Shop) -> None:
    shop.write(
        "tools_md/plugin.py",
        "from toolmd.hooks import hookimpl\nimport pathlib\n"
        "@hookimpl\ndef toolmd_resources(registry, settings):\n"
        "    async def close(): (settings.root / 'closed').touch()\n"
        "    registry.register_value(pathlib.PurePath, 1, on_registry_close=close)\n",
    )
    shop.tool("needs", "import pathlib\ndef needs(*, p: pathlib.PurePath): return {}")

    async def use() -> bool:
        async with shop.open() as ws:
            return (await ws.call("needs", {})).success

    assert asyncio.run(use())
    assert (shop.root / "closed").exists()


def test_settings_that_cannot_be_read_raise_before_anything_runs(shop: Shop) -> None:
    shop.write("toolmd.toml", "[safety]\nflor = 0.5")

    with pytest.raises(ConfigError, match="floor"):
        Workspace.open(shop.root)


def test_overrides_take_precedence_over_the_file(shop: Shop, tmp_path: Path) -> None:
    shop.write("toolmd.toml", "[safety]\nfloor = 0.5")

    ws = shop.open(overrides={"safety.floor": 0.9})

    assert ws.settings.safety.floor == 0.9
    assert ws.settings.root == tmp_path


def test_functions_are_exported_with_the_skills_that_can_run(shop: Shop) -> None:
    shop.tool("greet", "def greet(): ...")
    steps = "1. **Greet**.\n   - **Use**: greet"
    shop.write("skills_md/welcome.skill.md", skill("welcome", "greet", steps))
    shop.write("skills_md/prose.skill.md", skill("prose", "greet", "1. Just greet."))
    ws = shop.open()

    names = [item["function"]["name"] for item in ws.export("openai")]

    assert names == ["greet", "welcome"]
    assert len(ws.export("openai", skills=False)) == 1
    assert len(ws.export("openai", ["welcome"])) == 1
    with pytest.raises(NotFoundError, match="did you mean 'greet"):
        ws.export("openai", ["gret"])
    with pytest.raises(NotFoundError):
        ws.export("fax")


def test_a_tool_with_a_threshold_asks_for_confidence_in_its_export(shop: Shop) -> None:
    shop.tool("greet", "def greet(): ...")

    (plain,) = shop.open().export("openai")
    (asking,) = shop.open(overrides={"safety.floor": 0.5}).export("openai")

    assert "_confidence" not in plain["function"]["parameters"]["properties"]
    assert "_confidence" in asking["function"]["parameters"]["properties"]


def test_exports_and_prompts_state_the_minimum_that_the_settings_raise(shop: Shop) -> None:
    shop.tool("greet", "def greet(): ...", extra="\n## Safety\n\n- **Min Confidence**: 0.3\n")
    ws = shop.open(overrides={"safety.floor": 0.6172839})

    for target in ("openai", "mcp", "anthropic"):
        assert "Below 0.6172839 the call" in str(ws.export(target))
    assert ws.export("mcp")[0]["_meta"]["toolmd/policy"]["safety"]["min_confidence"] == 0.6172839
    for dialect in ("plan", "inline"):
        assert "at least 0.6172839" in ws.system_prompt(dialect)


def test_a_message_about_a_confidence_names_the_one_that_was_stated(shop: Shop) -> None:
    shop.tool("greet", "def greet(): ...", extra="\n## Safety\n\n- **Min Confidence**: 0.3\n")
    ws = shop.open()

    denied = ws.call_sync("greet", {}, confidence=0.2999999)
    assert denied.error is not None
    assert "at least 0.3, not 0.2999999" in denied.error.message
    denied = ws.call_sync("greet", {}, confidence=1.5)
    assert denied.error is not None
    assert denied.error.message == "confidence must be a number from 0 to 1, not 1.5"
