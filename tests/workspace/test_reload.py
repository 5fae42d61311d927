"""Reloading: a new snapshot as a whole or none, and calls under way keep theirs."""

import asyncio
import gc
import sys
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from workspace_shop import Shop, skill, tool, word


def pair(number: int) -> tuple[str, str]:
    """Give the two sides of a tool that agree on one number only."""
    return (
        tool("count", word(f"p{number}")),
        f"from ._n import N\nasync def count(p{number}):\n    return {{'n': N, 'own': {number}}}\n",
    )


def write(shop: Shop, number: int) -> None:
    markdown, python = pair(number)
    shop.write("tools_md/count.tool.md", markdown)
    shop.write("tools_md/count.py", python)
    shop.write("tools_md/_n.py", f"N = {number}\n")


def test_a_reload_reads_changed_files(shop: Shop) -> None:
    shop.tool("greet", "def greet(): return {'n': 1}")
    ws = shop.open()
    before = ws.registry
    assert ws.call_sync("greet", {}).data == {"n": 1}

    shop.tool("greet", "def greet(): return {'n': 2}")
    shop.tool("more", "def more(): return {}")
    after = ws.reload()

    assert after is ws.registry is not before
    assert ws.call_sync("greet", {}).data == {"n": 2}
    assert list(before.tools) == ["greet"]
    assert list(after.tools) == ["greet", "more"]


def test_a_reload_of_unchanged_files_does_nothing(shop: Shop) -> None:
    shop.tool("greet", "def greet(): return {}")
    shop.write("tools_md/bad.tool.md", "nothing")
    ws = shop.open()

    assert ws.reload() is ws.reload() is ws.registry


def test_a_file_that_broke_is_reported_and_the_rest_stays(shop: Shop) -> None:
    shop.tool("greet", "def greet(): return {}")
    shop.tool("other", "def other(): return {}")
    ws = shop.open()

    shop.write("tools_md/other.tool.md", "half a fi")
    ws.reload()

    assert ws.call_sync("greet", {}).success
    assert any(d.span.path == "tools_md/other.tool.md" for d in ws.diagnostics)


def test_settings_that_broke_leave_the_old_snapshot_with_a_diagnostic(shop: Shop) -> None:
    shop.write("toolmd.toml", "[safety]\nfloor = 0.5")
    shop.tool("greet", "def greet(): return {}")
    ws = shop.open()

    shop.write("toolmd.toml", "[safety]\nfloor = 5")
    kept = ws.reload()

    assert "unreadable-settings" in {d.code for d in kept.diagnostics}
    assert "unreadable-settings" in {d.code for d in ws.diagnostics}
    assert ws.settings.safety.floor == 0.5
    shop.write("toolmd.toml", "[safety]\nfloor = 0.6")
    assert not ws.reload().diagnostics
    assert ws.settings.safety.floor == 0.6


def test_a_call_in_flight_ends_on_its_first_snapshot(shop: Shop) -> None:
    python = (
        "import asyncio\nGATE = asyncio.Event()\nIN = asyncio.Event()\n"
        "async def wait_here():\n    IN.set()\n    await GATE.wait()\n"
        "    from ._late import N\n    return {'n': N}\n"
    )
    shop.tool("wait_here", python)
    shop.write("tools_md/_late.py", "N = 'old'\n")
    ws = shop.open()

    async def scene() -> tuple[object, object]:
        # The second call is the quick one: what a call keeps alive must not depend on that.
        module = sys.modules[ws.tools["wait_here"].binding.load().function.__module__]
        first = asyncio.create_task(ws.call("wait_here", "{}"))
        await module.IN.wait()
        module.GATE.set()
        await first
        module.GATE.clear()
        module.IN.clear()
        running = asyncio.create_task(ws.call("wait_here", "{}"))
        await module.IN.wait()
        shop.write("tools_md/_late.py", "N = 'new'\n")
        ws.reload()
        gate = module.GATE
        del module
        gc.collect()
        gate.set()
        old = await running
        return old, ws.tools

    old, _ = asyncio.run(scene())

    assert old.success, old
    assert old.data == {"n": "old"}


def test_a_run_that_waits_keeps_its_steps_and_has_todays_python(shop: Shop) -> None:
    shop.tool("say", "def say(): return {'n': 'old'}")
    steps = (
        "1. **Say** it.\n   - **Use**: say\n   - **Save as**: a\n"
        "2. **Wait**.\n   - **Ask**: Go on?\n"
        "3. **Say** it again.\n   - **Use**: say\n   - **Save as**: b\n"
        "4. **Return**:\n   - first: `a.n`\n   - second: `b.n`\n"
    )
    shop.write("skills_md/twice.skill.md", skill("twice", "say", steps))
    text = (shop.root / "tools_md/say.tool.md").read_text()
    properties = "- **Properties**:\n  - **n**:\n    - **Type**: string\n"
    shop.write("tools_md/say.tool.md", text + properties)
    ws = shop.open()

    def meanwhile(question):
        shop.tool("say", "def say(): return {'n': 'new'}")
        (shop.root / "skills_md/twice.skill.md").unlink()
        ws.reload()
        gc.collect()
        return True

    result = ws.run_sync("twice", {}, ask=meanwhile)

    assert result.data == {"first": "old", "second": "new"}
    assert not ws.skills


def test_resources_of_a_replaced_snapshot_close_when_its_last_call_ends(shop: Shop) -> None:
    shop.write(
        "tools_md/plugin.py",
        "from toolmd.hooks import hookimpl\nfrom ._till import Till\n"
        "@hookimpl\ndef toolmd_resources(registry):\n"
        "    till = Till()\n"
        "    registry.register_value(Till, till, on_registry_close=till.close)\n",
    )
    shop.write(
        "tools_md/_till.py",
        "import asyncio\nclass Till:\n    def __init__(self):\n        self.open = True\n"
        "        self.gate = asyncio.Event()\n    def close(self): self.open = False\n",
    )
    shop.tool(
        "ring",
        "from ._till import Till\nimport asyncio\nIN = asyncio.Event()\n"
        "TILLS = []\nasync def ring(*, till: Till):\n"
        "    TILLS.append(till)\n    IN.set()\n"
        "    await till.gate.wait()\n    return {'open': till.open}\n",
    )
    ws = shop.open()

    async def scene() -> tuple[object, object]:
        running = asyncio.create_task(ws.call("ring", {}))
        module = sys.modules[ws.tools["ring"].binding.load().function.__module__]
        await module.IN.wait()
        shop.write("tools_md/_more.py", "")
        ws.reload()
        (till,) = module.TILLS
        still = till.open
        till.gate.set()
        result = await running
        return still and result.data["open"], till.open

    assert asyncio.run(scene()) == (True, False)


def test_snapshots_that_were_replaced_leave_no_modules_behind(shop: Shop) -> None:
    write(shop, 0)
    ws = shop.open()
    for number in range(1, 20):
        assert ws.call_sync("count", {f"p{number - 1}": "x"}).success
        write(shop, number)
        ws.reload()
    gc.collect()

    ours = ws._project.live.snapshot.plugins.modules.root
    kept = {name.partition(".")[0] for name in sys.modules if name.startswith("_toolmd_")}
    left = {name for name in kept if sys.modules.get(f"{name}.tools_md.count")}

    assert left <= {ours}


def test_calls_that_race_with_reloads_never_see_half_of_two_snapshots(shop: Shop) -> None:
    """The markdown, the Python and its helper say one number, whichever snapshot answers."""
    write(shop, 0)
    ws = shop.open()
    stop = threading.Event()
    wrong: list[object] = []

    def caller() -> None:
        async def calls() -> None:
            while not stop.is_set():
                registry = ws.registry
                (parameter,) = registry.tools["count"].spec.parameters
                result = await ws.call("count", {parameter.name: "x"})
                # Between the look and the call the snapshot may have changed: that is told.
                if result.success and result.data["n"] != result.data["own"]:
                    wrong.append(result)
                if not result.success and result.error.code != "invalid_arguments":
                    wrong.append(result)

        asyncio.run(calls())

    threads = [threading.Thread(target=caller) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(1, 15):
        write(shop, number)
        ws.reload()
    stop.set()
    for thread in threads:
        thread.join()

    assert not wrong


edits = st.lists(
    st.sampled_from(["good", "other", "broken", "drift", "remove", "python", "nothing"]),
    min_size=1,
    max_size=8,
)


@settings(max_examples=settings.default.max_examples // 2)
@given(edits=edits)
def test_a_workspace_reloaded_after_any_edits_equals_one_opened_afresh(
    tmp_path_factory: pytest.TempPathFactory, edits: list[str]
) -> None:
    shop = Shop(tmp_path_factory.mktemp("shop"))
    shop.tool("greet", "def greet(): return {'n': 0}")
    ws = shop.open()
    file = shop.root / "tools_md/greet.tool.md"
    for number, edit in enumerate(edits):
        match edit:
            case "good":
                shop.tool("greet", f"def greet(): return {{'n': {number}}}")
            case "other":
                shop.tool(f"other_{number}", f"def other_{number}(): return {{}}")
            case "broken":
                file.write_text("# Half")
            case "drift":
                shop.tool("greet", "def greet(x): ...")
            case "remove":
                file.unlink(missing_ok=True)
            case "python":
                shop.write("tools_md/greet.py", "def greet(:")
        ws.reload()

    fresh = shop.open()

    assert ws.registry.diagnostics == fresh.registry.diagnostics
    assert {n: b.spec for n, b in ws.tools.items()} == {n: b.spec for n, b in fresh.tools.items()}
    assert [d.code for d in ws.diagnostics] == [d.code for d in fresh.diagnostics]
    ours, theirs = (w.call_sync("greet", {}).to_dict() for w in (ws, fresh))
    assert (ours["outcome"], ours.get("data")) == (theirs["outcome"], theirs.get("data"))
    for workspace in shop.opened:
        workspace.close()


def test_a_host_reads_in_its_log_which_file_is_not_in_force(
    shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    shop.tool("greet", "def greet(): return {}")
    shop.write("tools_md/bad.tool.md", "nothing")
    ws = shop.open()
    assert "tools_md/bad.tool.md:1" in caplog.text

    caplog.clear()
    shop.write("tools_md/greet.tool.md", "half a fi")
    ws.reload()
    assert "greet stays live as the file was last read" in caplog.text
    assert "bad.tool.md" not in caplog.text  # It was reported before.
