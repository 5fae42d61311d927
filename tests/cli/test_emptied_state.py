"""State files that were emptied: calls are denied with the file and a remedy; nothing is lost."""

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from test_on_a_terminal import BOUQUET
from tests.command import run_command

from toolmd import UnreachableError, Workspace

PAY = """\
# Pay

Pay the potter.

## Metadata

- **Name**: pay
- **Version**: 1.0.0
- **Category**: stock

## Parameters

None

## Returns

- **Type**: string
- **Description**: What was paid
"""
CONFIRMED = f"{PAY}\n## Safety\n\n- **Requires Confirmation**: true\n"
RING = PAY.replace("Pay", "Ring").replace("pay", "ring").replace("potter", "bell")
RARE = f"{RING}\n## Limits\n\n- **Rate**: 1 per 50 minutes\n"
REMEDY = "restore it from a backup, or remove it to begin without records"


class Told(NamedTuple):
    """How a command ended, and what stands in its JSON."""

    code: int
    denied: str
    rows: int | None


@pytest.fixture
def used(shop: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a shop with a pending run, a pending call, a used rate and a weakened policy."""
    monkeypatch.setenv("TOOLMD_STORE", "sqlite")
    for name, text in {"pay": CONFIRMED, "ring": RARE}.items():
        shop.write(f"tools_md/{name}.tool.md", text)
        shop.write(f"tools_md/{name}.py", f"def {name}() -> str:\n    return 'Done.'\n")
    assert shop("check").code == 0
    assert shop(*BOUQUET, "--json").code == 4
    assert shop("call", "pay").code == 4
    assert shop("call", "ring").code == 0
    assert len(json.loads(shop("pending", "--json").out)) == 2
    shop.write("tools_md/pay.tool.md", PAY)
    return shop


def emptied(folder: Path, path: Path) -> Path:
    """Empty a file, and remove what SQLite has next to it."""
    file = folder / path
    file.chmod(0o600)  # An audit file without a writer is read-only.
    os.truncate(file, 0)
    for more in ("-wal", "-shm"):
        file.with_name(file.name + more).unlink(missing_ok=True)
    return file


def state_files(folder: Path) -> list[Path]:
    """Return what a use left: every file with bytes but SQLite's own, below the folder."""
    found = [path.relative_to(folder) for path in (folder / ".toolmd").rglob("*")]
    return [
        path
        for path in sorted(found)
        if (folder / path).is_file()
        and (folder / path).stat().st_size
        and not path.name.endswith(("-wal", "-shm"))
    ]


def told_by(shop: Any, words: tuple[str, ...]) -> tuple[Told, str]:
    """Return what a command told, as far as it is the same each time, and its messages."""
    typed = shop(*words)
    rows = len(json.loads(typed.out)) if typed.out.startswith("[") else None
    code = re.search(r"denied\[(\w+)\]", typed.err)
    return Told(typed.code, code[1] if code else "", rows), typed.err


def pending_call(shop: Any) -> str:
    """Return the id of the call that waits; that of a run's question has a slash."""
    ids = [one["id"] for one in json.loads(shop("pending", "--json").out)]
    return next(one for one in ids if "/" not in one)


def test_each_emptied_file_is_reported_or_nothing_is_lost(
    used: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    held = pending_call(used)
    uses: list[tuple[str, ...]] = [
        ("pending", "--json"),
        ("runs", "--json"),
        ("call", "pay"),
        ("call", "ring"),
        BOUQUET,
        ("confirm", held),
        ("audit", "--verify"),
    ]

    def copied(name: str) -> Any:
        folder = tmp_path_factory.mktemp(name) / "shop"
        return type(used)(shutil.copytree(used.folder, folder))

    before = copied("before")
    expected = [told_by(before, words)[0] for words in uses]
    assert [one.code for one in expected] == [0, 0, 4, 3, 4, 0, 0]
    lost, harmless = set(), set()
    for number, path in enumerate(state_files(used.folder)):
        shop = copied(str(number))
        file = emptied(shop.folder, path)
        told = [told_by(shop, words) for words in uses]

        changed = [(one, err) for (one, err), was in zip(told, expected, strict=True) if one != was]
        denied = [err for _, err in told if str(file) in err]
        for one, err in changed:
            assert one.code not in {0, 4}, (path, one)
            assert f"{file} was emptied (0 bytes)" in err, (path, one, err)
            assert REMEDY in err
        # Without a trial of the engine, which says nothing about the project's own records.
        doctor = json.loads(run_command(shop.folder, "doctor", "--json", TOOLMD_STORE="memory").out)
        bad = [sign for sign in doctor if sign["state"] == "bad" and str(file) in sign["found"]]
        if denied:
            lost.add(path.name)
            assert file.stat().st_size == 0
            assert [sign["remedy"] for sign in bad] == [REMEDY]
        else:
            harmless.add(path.name)
            assert bad == []
    # Each kind was met: records that are gone, and a cache that is read again.
    assert len(lost) >= 3
    assert {"definitions.live", "store.sqlite3"} <= lost
    assert any(name.endswith(".jsonl") for name in lost)
    assert "specs.index.json" in harmless


def test_removing_the_emptied_file_begins_without_its_records(used: Any) -> None:
    for path in state_files(used.folder):
        emptied(used.folder, path).unlink()

    assert used("call", "ring").code == 0
    assert used("pending", "--json").out.strip() == "[]"
    assert used("audit", "--verify").code == 0


def used_again(workspace: Workspace, held: str) -> list[tuple[str, str]]:
    """Return the outcome of each use of an open workspace, with its message."""
    told = []
    for use in (
        lambda: workspace.call_sync("pay"),
        lambda: workspace.call_sync("ring"),
        lambda: workspace.run_sync("make_bouquet", {"kind": "rose", "number": 3}),
        lambda: workspace.confirmations.approve_sync(held),
    ):
        try:
            result = use()
        except UnreachableError as error:
            told.append(("raised", str(error)))
        else:
            error = result.error
            told.append((result.outcome, "" if error is None else error.message))
    return told


def test_a_file_emptied_under_an_open_workspace_is_reported_or_nothing_is_lost(
    used: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    held = pending_call(used)
    lost = set()
    for path in state_files(used.folder):
        folder = shutil.copytree(used.folder, tmp_path_factory.mktemp("open") / "shop")
        with Workspace.open(folder, overrides={"plugins": []}) as workspace:
            workspace.call_sync("pay")
            assert workspace.call_sync("ring").outcome == "denied"
            assert len(workspace.runs.list_sync()) == 1
            os.truncate(folder / path, 0)
            told = used_again(workspace, held)

        expected = ["confirm", "denied", "confirm", "ok"]
        for (outcome, message), was in zip(told, expected, strict=True):
            if outcome != was:
                lost.add(path.name)
                assert outcome in {"denied", "raised"}
                assert f"{folder / path} was emptied (0 bytes)" in message
    # The rates and what was live are in this process's memory, too.
    assert {Path(name).suffix for name in lost} == {".jsonl", ".sqlite3"}


def test_a_removed_file_of_runs_under_an_open_workspace_asks_for_a_restart(used: Any) -> None:
    with Workspace.open(used.folder, overrides={"plugins": []}) as workspace:
        assert len(workspace.runs.list_sync()) == 1
        file = workspace.settings.state / "store.sqlite3"
        file.unlink()
        with pytest.raises(
            UnreachableError, match="was removed or replaced while this process uses it"
        ) as raised:
            workspace.runs.list_sync()
        assert str(file) in str(raised.value)
        assert "restart the process" in str(raised.value)
    with Workspace.open(used.folder, overrides={"plugins": []}) as workspace:
        assert len(workspace.runs.list_sync()) == 0
