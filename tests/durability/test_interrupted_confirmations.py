"""An approved call whose process ended without a result is asked about again, on any machine."""

import asyncio
import datetime as dt
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from payments import pay
from tests import warm_python

from toolmd import Workspace, load_settings
from toolmd._types.confirmation import EXPIRES_S

TOOL = pay("## Safety\n\n- **Requires Confirmation**: true")
PYTHON = """
import asyncio
from pathlib import Path
from toolmd import Context

FOLDER = Path(__file__).parent

async def pay(amount: int = 1, *, context: Context) -> dict:
    with (FOLDER / "paid.txt").open("a") as file:
        file.write(f"{context.idempotency_key} {amount}\\n")
    if (FOLDER / "hangs").exists():
        print("paying", flush=True)
        await asyncio.sleep(60)
    return {"amount": amount}
"""
APPROVE = """
import asyncio, sys
from toolmd import Workspace

async def main(folder, store, *held):
    async with Workspace.open(folder, overrides={"store": store}) as workspace:
        approve = workspace.confirmations.approve
        await asyncio.gather(*(approve(one, {"amount": 7}) for one in held))

asyncio.run(main(*sys.argv[1:]))
"""


class Shop:
    """A project whose payments are confirmed."""

    def __init__(self, root: Path, place: str) -> None:
        self.root, self.place = root, place
        self.tools = root / "tools_md"
        self.tools.mkdir(parents=True)
        (self.tools / "pay.tool.md").write_text(TOOL)
        (self.tools / "pay.py").write_text(PYTHON)
        (root / "toolmd.toml").write_text("plugins = []\naudit = false\n")

    def opened(self, ahead_s: float = 0.0) -> Workspace:
        """Open it on a machine whose clock is so many seconds ahead."""
        ahead = dt.timedelta(seconds=ahead_s)
        settings = load_settings(self.root, overrides={"store": self.place})
        return Workspace(settings, clock=lambda: dt.datetime.now(dt.UTC) + ahead)

    @property
    def paid(self) -> list[list[str]]:
        file = self.tools / "paid.txt"
        return [line.split() for line in file.read_text().splitlines()] if file.exists() else []

    def let_its_time_pass(self) -> None:
        """Let the time be over in which the approved call must have ended."""
        if self.place != "sqlite":
            with psycopg.connect(self.place, autocommit=True) as other:
                other.execute("UPDATE toolmd.confirmation SET expires = 0")
            return
        with closing(sqlite3.connect(self.root / ".toolmd" / "store.sqlite3")) as store, store:
            store.execute("UPDATE confirmation SET expires = 0")


@pytest.fixture
def shop(tmp_path: Path, place: str) -> Iterator[Shop]:
    made = Shop(tmp_path / "shop", place)
    if place == "sqlite":
        (made.root / ".toolmd").mkdir()
        shutil.copy(tmp_path / "store.sqlite3", made.root / ".toolmd")
    return made


def test_approved_calls_without_a_result_are_asked_about_again(shop: Shop) -> None:
    with shop.opened() as workspace:
        asked = [workspace.call_sync("pay", {}, conversation=name) for name in "ab"]
        held = [one.confirmation.id for one in asked]
        (shop.tools / "hangs").touch()
        words = [sys.executable, "-c", APPROVE, str(shop.root), shop.place, *held]
        with warm_python.Popen(words, stdout=subprocess.PIPE, text=True) as dies:
            assert [dies.stdout.readline() for _ in held] == ["paying\n"] * 2
            dies.kill()
        (shop.tools / "hangs").unlink()
        confirmations = workspace.confirmations

        assert confirmations.pending_sync() == ()
        assert confirmations.approve_sync(held[0]).error.code == "confirmation_used"
        shop.let_its_time_pass()
        asked, dropped = confirmations.pending_sync()
        assert (asked.id, asked.state, asked.shown) == (held[0], "interrupted", {"amount": 7})
        assert asked.prompt.startswith("It was approved before, and its process ended")
        confirmations.reject_sync(dropped.id)

        async def twice() -> list[str]:
            both = [confirmations.approve(asked.id) for _ in range(2)]
            return sorted(result.outcome for result in await asyncio.gather(*both))

        assert asyncio.run(twice()) == ["denied", "ok"]
        assert confirmations.pending_sync() == ()
        states = [confirmations.get_sync(one).state for one in held]
        assert states == ["approved", "rejected"]
    assert sorted(shop.paid) == sorted([[held[0], "7"], [held[0], "7"], [held[1], "7"]])


def test_the_time_to_decide_is_of_postgres_however_wrong_a_machines_clock_is(
    tmp_path: Path, postgres: str
) -> None:
    shop = Shop(tmp_path / "shop", postgres)
    with shop.opened(-EXPIRES_S) as behind:
        call = behind.call_sync("pay", {})
        assert call.confirmation is not None
    with shop.opened(EXPIRES_S) as ahead:
        assert [one.id for one in ahead.confirmations.pending_sync()] == [call.confirmation.id]
        assert ahead.confirmations.approve_sync(call.confirmation.id).success
