"""The event loop goes on while the first use of a project imports or asks slow plugins."""

import asyncio

import pytest
import slow_code
from workspace_shop import skill, tool

from toolmd import Workspace

HOOK = "import slow_code\nfrom toolmd.hooks import hookimpl\n@hookimpl\ndef "
IMPORT_S = 10.0
IMPORT = "import slow_code\nslow_code.wait()\n"
GREET = "def greet():\n    return {'said': 'hello'}\n"
ASKS = "from toolmd import Context\nasync def greet(*, context: Context):\n"
SKILL = skill("welcome", "greet", "1. **Greet**.\n   - **Use**: greet\n")
REPLY = {
    "choices": [
        {
            "message": {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "greet", "arguments": "{}"},
                    }
                ],
            },
            "finish_reason": "tool_calls",
        }
    ]
}


@pytest.fixture
def slow(shop):
    slow_code.close()
    shop.tool("greet", GREET)
    yield shop
    slow_code.opened.set()


async def meanwhile(work):
    """Return what `work` returns; open the gate from the loop once a plugin waits at it."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    doing = asyncio.create_task(work)
    assert await asyncio.to_thread(slow_code.reached.wait, 20)
    assert loop.time() - began < IMPORT_S, "the loop stood still until the import was given up"
    assert not doing.done()
    slow_code.opened.set()
    return await doing


async def call(ws):
    return await ws.call("greet", {})


async def handle(ws):
    (result,) = (await ws.handle(REPLY)).results
    return result


async def run(ws):
    return await ws.run("welcome", {})


WAYS = {
    "an import, by a call": (IMPORT, call),
    "an import, by a reply": (IMPORT, handle),
    "an import, by a run": (IMPORT, run),
    "its guards": (HOOK + "toolmd_guards(spec):\n    slow_code.wait()\n", call),
    "its guards, by a reply": (HOOK + "toolmd_guards(spec):\n    slow_code.wait()\n", handle),
    "its guards, by a run": (HOOK + "toolmd_guards(spec):\n    slow_code.wait()\n", run),
    "its dialects": (HOOK + "toolmd_dialects():\n    slow_code.wait()\n", handle),
}


def checked(shop, work):
    """Return what came of `work` on a workspace just opened, which has a deadline for imports."""

    async def main():
        settings = {"plugins": [], "import_timeout": IMPORT_S, "audit": False}
        async with await Workspace.aopen(shop.root, overrides=settings) as ws:
            return await meanwhile(work(ws))

    return asyncio.run(main())


@pytest.mark.parametrize("way", WAYS)
def test_the_loop_continues_while_a_first_use_waits_for_a_slow_plugin(slow, way):
    plugin, work = WAYS[way]
    slow.write("skills_md/welcome.skill.md", SKILL)
    slow.write("tools_md/plugin.py", plugin)

    assert checked(slow, work).outcome == "ok"


def test_the_loop_continues_while_a_plugin_names_an_implementation(slow):
    (slow.root / "tools_md/greet.py").unlink()
    slow.write(
        "tools_md/plugin.py",
        HOOK + "toolmd_implementation(spec):\n    slow_code.wait()\n    return lambda: {}\n",
    )

    assert checked(slow, call).outcome == "ok"


def test_the_loop_continues_while_plugins_provide_resources(slow):
    slow.tool("greet", ASKS + "    return await context.resource(int)\n")
    slow.write(
        "tools_md/plugin.py",
        HOOK + "toolmd_resources(registry, settings):\n"
        "    slow_code.wait()\n    registry.register_value(int, 7)\n",
    )

    assert checked(slow, call).data == 7


def test_the_loop_continues_while_a_decision_waits_for_a_slow_plugin(slow, monkeypatch):
    monkeypatch.setenv("TOOLMD_STORE", "sqlite")
    extra = "\n## Safety\n\n- **Requires Confirmation**: true\n"
    slow.write("tools_md/greet.tool.md", tool("greet", extra=extra))
    slow.write("tools_md/plugin.py", IMPORT)
    slow_code.opened.set()
    with slow.open() as ws:
        held = ws.call_sync("greet", {}).confirmation.id
    slow_code.close()

    assert checked(slow, lambda ws: ws.confirmations.approve(held)).outcome == "ok"


def test_a_tool_that_was_called_before_waits_for_no_thread(slow):
    """A call of an async tool then runs from its beginning to its end without giving way."""
    slow.tool("greet", "async def greet():\n    return {}\n")

    async def main(ws):
        await ws.call("greet", {})
        with pytest.raises(StopIteration) as ended:
            ws.call("greet", {}).send(None)
        return ended.value.value

    with slow.open(overrides={"audit": False}) as ws:
        assert asyncio.run(main(ws)).outcome == "ok"
