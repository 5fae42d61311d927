"""A call that its host named runs once, if its tool is keyed, whichever process it reaches."""

import asyncio
import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from payments import pay
from tests import warm_python

from toolmd import Workspace
from toolmd._store.records import KEY_KEPT_S

TOOL = pay("## Limits\n\n- **Timeout**: 2s")
PYTHON = """
import asyncio, os, time
from pathlib import Path
from toolmd import Context, ToolError

async def pay(amount: int = 1, *, context: Context) -> dict:
    with open(Path(__file__).with_name("paid.txt"), "a") as file:
        file.write(f"{context.idempotency_key}\\n")
    if amount == 13:
        raise ToolError("no money")
    if amount == 99:
        print("paying", flush=True)
        await asyncio.sleep(60)
    await asyncio.sleep(0.2)
    return {"amount": amount, "process": os.getpid(), "pin": "1234"}
"""
CALL = """
import json, sys
from toolmd import Workspace
folder, store, amount, name = sys.argv[1:]
with Workspace.open(folder, overrides={"store": store}) as workspace:
    print(json.dumps(workspace.call_sync("pay", {"amount": int(amount)}, call_id=name).to_dict()))
"""


class Shop:
    """A project with a keyed tool that counts its effects."""

    def __init__(self, root: Path, place: str) -> None:
        self.root, self.place = root, place
        (root / "tools_md").mkdir(parents=True)
        (root / "tools_md" / "pay.tool.md").write_text(TOOL)
        (root / "tools_md" / "pay.py").write_text(PYTHON)
        (root / "toolmd.toml").write_text("plugins = []\naudit = false\n")

    def begin(self, amount: int, name: str) -> "subprocess.Popen[str]":
        """Make a call in a process of its own."""
        words = [sys.executable, "-c", CALL, str(self.root), self.place, str(amount), name]
        return warm_python.Popen(words, stdout=subprocess.PIPE, text=True)

    def call(self, amount: int, name: str | None, place: str = "") -> dict[str, object]:
        with Workspace.open(self.root, overrides={"store": place or self.place}) as workspace:
            return workspace.call_sync("pay", {"amount": amount}, call_id=name).to_dict()

    def allow_a_minute(self) -> None:
        """Let a busy machine take its time."""
        file = self.root / "tools_md" / "pay.tool.md"
        file.write_text(TOOL.replace("Timeout**: 2s", "Timeout**: 60s"))

    @property
    def effects(self) -> list[str]:
        file = self.root / "tools_md" / "paid.txt"
        return file.read_text().split() if file.exists() else []

    def let_a_day_pass(self) -> None:
        change = f"keyed_call SET began = began - {KEY_KEPT_S}"
        if self.place != "sqlite":
            with psycopg.connect(self.place, autocommit=True) as other:
                other.execute(f"UPDATE toolmd.{change}")
            return
        with closing(sqlite3.connect(self.root / ".toolmd" / "store.sqlite3")) as store, store:
            store.execute(f"UPDATE {change}")


@pytest.fixture
def shop(tmp_path: Path, place: str) -> Shop:
    made = Shop(tmp_path / "shop", place)
    if place == "sqlite":
        (made.root / ".toolmd").mkdir()
        shutil.copy(tmp_path / "store.sqlite3", made.root / ".toolmd")
    return made


def test_one_call_in_two_processes_at_once_has_one_effect(shop: Shop) -> None:
    shop.allow_a_minute()
    processes = [shop.begin(5, "order-1") for _ in range(3)]
    results = [json.loads(process.communicate(timeout=120)[0]) for process in processes]

    assert [result["outcome"] for result in results] == ["ok"] * 3
    assert len({result["data"]["process"] for result in results}) == 1
    assert sorted(result["attempts"] for result in results) == [0, 0, 1]
    assert [bool(result.get("notes")) for result in results].count(True) == 2
    assert len(shop.effects) == 1


def test_many_equal_calls_of_one_process_have_one_effect(shop: Shop) -> None:
    shop.allow_a_minute()

    async def main() -> list[str]:
        async with Workspace.open(shop.root, overrides={"store": shop.place}) as workspace:
            made = [workspace.call("pay", {}, call_id=f"order-{n % 4}") for n in range(24)]
            return [result.outcome for result in await asyncio.gather(*made)]

    assert asyncio.run(main()) == ["ok"] * 24
    assert len(shop.effects) == len(set(shop.effects)) == 4


def test_equal_arguments_in_other_words_are_the_same_call(shop: Shop) -> None:
    file = shop.root / "tools_md" / "pay.tool.md"
    ignores = "- **Unknown Parameters**: ignore\n- **Version**"
    file.write_text(TOOL.replace("- **Version**", ignores))
    words = (
        {"amount": 2},
        {"amount": 2.0},
        '{"amount":2}',
        b'{ "amount": 2.0 }',
        {"amount": 2, "mood": "good"},
    )
    with Workspace.open(shop.root, overrides={"store": shop.place}) as workspace:
        results = [workspace.call_sync("pay", given, call_id="order-1") for given in words]
        other = workspace.call_sync("pay", {"amount": 3}, call_id="order-1")

    assert [result.attempts for result in results] == [1, 0, 0, 0, 0]
    assert (other.attempts, len(shop.effects)) == (1, 2)


def test_a_call_with_its_default_and_without_is_the_same_call(shop: Shop) -> None:
    file = shop.root / "tools_md" / "pay.tool.md"
    file.write_text(TOOL.replace("How much", "How much\n  - **Default**: 1"))
    shop.begin(1, "order-1").communicate()

    with Workspace.open(shop.root, overrides={"store": shop.place}) as workspace:
        again = workspace.call_sync("pay", {}, call_id="order-1")

    assert (again.attempts, len(shop.effects)) == (0, 1)


def test_a_call_that_was_approved_twice_has_one_effect(shop: Shop) -> None:
    file = shop.root / "tools_md" / "pay.tool.md"
    file.write_text(f"{TOOL}\n## Safety\n\n- **Requires Confirmation**: true\n")
    with Workspace.open(shop.root, overrides={"store": shop.place}) as workspace:

        def ask() -> str:
            pay = workspace.call_sync("pay", {"amount": 5}, call_id="order-1")
            return pay.confirmation.id

        approve = workspace.confirmations.approve_sync
        first = approve(ask())
        second = approve(ask())
        edited = approve(ask(), {"amount": 6})

    assert (first.attempts, second.attempts, second.data) == (1, 0, first.data)
    assert "the tool did not run again" in second.notes[-1]
    assert (edited.attempts, edited.data["amount"]) == (1, 6)
    assert len(set(shop.effects)) == len(shop.effects) == 2


def test_a_call_whose_process_was_killed_is_unknown_and_not_made_again(shop: Shop) -> None:
    with shop.begin(99, "order-1") as process:
        assert process.stdout.readline() == "paying\n"
        process.kill()
    for _ in range(2):
        result = shop.call(99, "order-1")
        assert (result["outcome"], result["error"]["code"]) == ("unknown", "outcome_unknown")
    assert len(shop.effects) == 1


def test_the_result_of_a_process_that_has_ended_is_returned(shop: Shop) -> None:
    first, again = shop.call(5, "order-1"), shop.call(5, "order-1")

    assert again["data"] == first["data"]
    assert (again["success"], again["attempts"], again["tool_call_id"]) == (True, 0, "order-1")
    assert "the tool did not run again" in again["notes"][-1]
    assert len(shop.effects) == 1


def test_a_call_that_failed_is_made_again_with_the_same_key(shop: Shop) -> None:
    assert [shop.call(13, "order-1")["outcome"] for _ in range(2)] == ["failed"] * 2
    assert len(shop.effects) == 2
    assert len(set(shop.effects)) == 1


def test_other_arguments_and_other_names_are_other_calls(shop: Shop) -> None:
    for amount, name in ((1, "order-1"), (2, "order-1"), (1, "order-2"), (1, None), (1, None)):
        assert shop.call(amount, name)["attempts"] == 1
    assert len(set(shop.effects)) == 5


def test_a_key_is_forgotten_after_a_day(shop: Shop) -> None:
    shop.call(1, "order-1")
    shop.let_a_day_pass()

    assert shop.call(1, "order-1")["attempts"] == 1
    assert len(shop.effects) == 2


def test_a_call_is_denied_while_the_store_can_not_be_reached(shop: Shop) -> None:
    result = shop.call(1, "order-1", place="postgresql://nobody@127.0.0.1:1/none")

    assert (result["outcome"], result["error"]["code"]) == ("denied", "internal_guard_error")
    assert shop.effects == []


def test_a_denied_call_leaves_its_key_free(shop: Shop) -> None:
    file = shop.root / "tools_md" / "pay.tool.md"
    file.write_text(TOOL.replace("Timeout**: 2s", "Timeout**: 2s\n- **Max Calls**: 1"))
    assert shop.call(1, "order-1")["outcome"] == "ok"
    assert shop.call(2, "order-2")["error"]["code"] == "quota_exceeded"
    assert shop.call(2, "order-2")["error"]["code"] == "quota_exceeded"
    # What was made before needs no turn.
    assert shop.call(1, "order-1")["outcome"] == "ok"


def test_sensitive_results_are_not_recorded(shop: Shop) -> None:
    file = shop.root / "tools_md" / "pay.tool.md"
    pin = "- **Properties**:\n  - **pin**:\n    - **Type**: string\n    - **Sensitive**: true\n"
    file.write_text(TOOL + pin)
    assert shop.call(1, "order-1")["data"]["pin"] == "1234"

    again = shop.call(1, "order-1")

    assert (again["outcome"], again["data"]) == ("ok", None)
    assert "Sensitive" in again["notes"][0]
    assert len(shop.effects) == 1


def test_calls_without_a_name_open_no_store(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "shop", "sqlite")

    assert shop.call(1, None)["outcome"] == "ok"
    assert not (shop.root / ".toolmd" / "store.sqlite3").exists()
    assert shop.call(1, "order-1")["outcome"] == "ok"
    assert (shop.root / ".toolmd" / "store.sqlite3").exists()
