"""What reads files or stores for a coroutine does so next to the event loop."""

import asyncio
import sqlite3
import threading
from contextlib import closing

import pytest

from toolmd import Workspace


@pytest.fixture
def strict(shop):
    text = "# Greet\n\nGreet.\n\n## Metadata\n\n- **Name**: greet\n- **Version**: 1.0.0\n"
    text += "- **Category**: test\n\n## Parameters\n\nNone\n\n## Returns\n\n- **Type**: object\n"
    text += "- **Description**: What was said\n\n## Safety\n\n- **Requires Confirmation**: true\n"
    shop.write("tools_md/greet.tool.md", text)
    shop.write("tools_md/greet.py", "def greet():\n    return {}\n")
    shop.open().close()
    shop.write("tools_md/greet.tool.md", text.replace("true", "false"))
    return shop


def test_a_workspace_is_opened_reloaded_and_its_changes_accepted_in_another_thread(strict):
    told = []

    async def main():
        async with await Workspace.aopen(strict.root) as ws:
            ws.on_change(lambda old, new: told.append(threading.get_ident()))
            (change,) = await ws.changes.list()
            assert await ws.changes.accept("greet") == change
            assert await ws.changes.list() == ()
            strict.write("tools_md/bow.py", "def bow():\n    return {}\n")
            text = (strict.root / "tools_md/greet.tool.md").read_text()
            strict.write("tools_md/bow.tool.md", text.replace("greet", "bow"))
            assert "bow" in (await ws.areload()).tools
            assert "bow" in ws.tools

    asyncio.run(main())
    assert len(told) == 2
    assert threading.get_ident() not in told


def pending(ws, held):
    return ws.confirmations.pending()


def get(ws, held):
    return ws.confirmations.get(held)


def reject(ws, held):
    return ws.confirmations.reject(held)


@pytest.mark.parametrize("work", [pending, get, reject])
def test_a_locked_store_of_confirmations_blocks_no_other_call(strict, work):
    async def main(ws, somebody):
        held = (await ws.call("greet", {})).confirmation.id
        somebody.execute("BEGIN EXCLUSIVE")
        waiting = asyncio.create_task(work(ws, held))
        for _ in range(20):
            # A call gives way to nobody.
            await asyncio.sleep(0)
            assert (await ws.call("greet", {}, dry_run=True)).outcome == "confirm"
        # A reader waits for no writer.
        assert not (waiting.done() and work is reject)
        somebody.execute("ROLLBACK")
        return await waiting

    file = strict.root / ".toolmd" / "store.sqlite3"
    with Workspace.open(strict.root, overrides={"store": "sqlite"}) as ws:
        ws.confirmations.pending_sync()
        with closing(sqlite3.connect(file, isolation_level=None)) as somebody:
            asyncio.run(main(ws, somebody))
