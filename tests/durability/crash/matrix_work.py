"""What the processes of the two machines do: runs, answers, confirmations and limited calls."""

import asyncio
import contextlib
import os
import secrets
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import office
from chaos import agree
from office import SKILL
from warm import Workspace, opened

from toolmd import ToolmdError

AT_ONCE = 6
"""Runs that each process has under way."""
ROUND = 5
"""Calls of a round that each process makes of the tool with Max Calls 3."""
TOOL = """# {name}

Does {name}.

## Metadata

- **Name**: {name}
- **Version**: 1.0.0
- **Category**: general
{metadata}
## Parameters

### mark

- **Type**: string
- **Required**: true

{policy}
- **Timeout**: {timeout}s

## Returns

- **Type**: object
"""
PAY_S = 10
"""The Timeout of a payment: one whose process died is asked about again 30 s after its approval."""
TOOLS = {
    "pay": ("- **Idempotent**: keyed\n",
            "## Safety\n\n- **Requires Confirmation**: true\n\n## Limits\n"),
    "thrice": ("", "## Limits\n\n- **Max Calls**: 3"),
    "alone": ("", "## Limits\n\n- **Max Concurrent**: 1"),
}  # fmt: skip
PYTHON = '''"""Does it, and notes when, by the clock that all processes of the kernel share."""

import asyncio
import os
import time
from pathlib import Path

from toolmd import Context

BOOK = Path(__file__).with_suffix(".txt")


def note(*words: object) -> None:
    with BOOK.open("a") as book:
        book.write(" ".join(map(str, words)) + "\\n")


async def {name}(mark: str, *, context: Context) -> dict[str, str]:
    began = time.monotonic()
    # A payment of a key that was paid is no second one, at any bank.
    note("began", mark, os.getpid(), began, context.idempotency_key)
    try:
        await asyncio.sleep({seconds})
    finally:
        note("ended", mark, os.getpid(), time.monotonic())
    return {{}}
'''


def make_shop(folder: Path) -> None:
    """Write a project with a tool of each kind."""
    tools = folder / "tools_md"
    tools.mkdir(parents=True)
    for name, (metadata, policy) in TOOLS.items():
        timeout = PAY_S if name == "pay" else 60
        text = TOOL.format(name=name, metadata=metadata, policy=policy, timeout=timeout)
        (tools / f"{name}.tool.md").write_text(text)
        seconds = "float(mark)" if name == "alone" else "0.02"
        (tools / f"{name}.py").write_text(PYTHON.format(name=name, seconds=seconds))
    for name in (*TOOLS, "ordered", "decided", "rounds", "long"):
        (tools / f"{name}.txt").touch()
    (folder / "toolmd.toml").write_text("plugins = []\n")


def noted(folder: Path, name: str) -> list[list[str]]:
    """Return the lines that a tool or a process wrote."""
    return [line.split() for line in (folder / "tools_md" / f"{name}.txt").read_text().splitlines()]


def work(state: str, store: str, first: int, last: int) -> None:
    """Order the runs of these numbers until each has ended, and execute all runs."""

    async def order(workspace: Workspace) -> None:
        places = asyncio.Semaphore(AT_ONCE)

        async def one(number: int) -> None:
            async with places:
                run = office.inputs(number), office.run_id(number)
                await _until_done(lambda: workspace.run(SKILL, run[0], run_id=run[1]))

        await asyncio.gather(*(one(number) for number in range(first, last)))
        await asyncio.Event().wait()

    with opened(Path(state), store) as workspace:
        workspace.runs.start_sync()
        asyncio.run(order(workspace))


def answer(state: str, store: str) -> None:
    """Answer yes to the questions of all runs; the harness starts it again where it gives up."""
    agree(Path(state), store)


def order_payments(folder: str, state: str, store: str, first: int, last: int) -> None:
    """Make calls that wait for a confirmation."""

    async def make(workspace: Workspace) -> None:
        ordered = {int(line[0]) for line in noted(Path(folder), "ordered")}
        for number in sorted({*range(first, last)} - ordered):
            result = None
            while result is None or result.confirmation is None:
                # Each has a mark of its own, which tells the effects apart.
                mark = f"{number}-{secrets.token_hex(4)}"
                result = await workspace.call("pay", {"mark": mark}, user=f"u{number}")
            _note(folder, "ordered", number)
        await asyncio.Event().wait()

    _in_shop(folder, state, store, make)


def decide(folder: str, state: str, store: str) -> None:
    """Approve all confirmations, as often as they are shown."""

    async def one(workspace: Workspace, held: str) -> None:
        _note(folder, "decided", "begins", held, os.getpid())
        result = await workspace.confirmations.approve(held)
        code = result.error.code if result.error else "-"
        _note(folder, "decided", "ends", held, os.getpid(), result.outcome, code)

    async def decide_all(workspace: Workspace) -> None:
        while True:
            with contextlib.suppress(ToolmdError):
                pending = await asyncio.to_thread(workspace.confirmations.pending_sync)
                some = [one(workspace, held.id) for held in pending[:4]]
                await asyncio.gather(*some, return_exceptions=True)
            await asyncio.sleep(0.05)

    _in_shop(folder, state, store, decide_all)


def call_limited(folder: str, state: str, store: str) -> None:
    """Call the tools with Max Calls 3, in rounds, and Max Concurrent 1."""

    async def thrice(workspace: Workspace) -> None:
        number = 0
        while True:
            conversation = f"{int(time.monotonic()) // 2}-{number % 2}"
            _note(folder, "rounds", conversation, "begins")
            calls = (
                workspace.call("thrice", {"mark": conversation}, user=conversation)
                for _ in range(ROUND)
            )
            for result in await asyncio.gather(*calls):
                code = result.error.code if result.error else "-"
                _note(folder, "rounds", conversation, result.outcome, code)
            number += 1
            await asyncio.sleep(0.2)

    async def alone(workspace: Workspace) -> None:
        while True:
            await workspace.call("alone", {"mark": "0.2"})
            await asyncio.sleep(0.05)

    async def both(workspace: Workspace) -> None:
        await asyncio.gather(thrice(workspace), alone(workspace), alone(workspace))

    _in_shop(folder, state, store, both)


def call_alone(folder: str, state: str, store: str, seconds: float) -> None:
    """Call the tool with Max Concurrent 1 until a call ran, and note how each ended."""

    async def main(workspace: Workspace) -> None:
        outcome = ""
        while outcome not in {"ok", "unknown"}:
            result = await workspace.call("alone", {"mark": str(seconds)})
            outcome = result.outcome
            _note(folder, "long", os.getpid(), outcome, result.error.code if result.error else "-")

    _in_shop(folder, state, store, main)


def _in_shop(
    folder: str, state: str, store: str, main: Callable[[Workspace], Awaitable[None]]
) -> None:
    with opened(Path(state), store, folder=Path(folder)) as workspace:
        asyncio.run(main(workspace))


async def _until_done(run: Callable[[], Awaitable[Any]]) -> None:
    while True:
        try:
            await run()
        except ToolmdError:
            # The machine is cut off: the same run goes on later.
            await asyncio.sleep(0.5)
        else:
            return


def _note(folder: str, book: str, *words: object) -> None:
    with (Path(folder) / "tools_md" / f"{book}.txt").open("a") as file:
        file.write(" ".join(map(str, words)) + "\n")
