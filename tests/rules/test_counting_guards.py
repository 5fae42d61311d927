"""Guards count by the quotas' own counter; roles that occur once, and records of approvals."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from tests.definitions import Folder, tool

from toolmd import Workspace
from toolmd.config import load_settings
from toolmd.hooks import hookimpl

AMOUNT = "### amount\n\n- **Type**: number\n- **Required**: true\n\n"
PYTHON = "def pay(amount):\n    return {}\n"


class Counting:
    """A plugin whose guard counts."""

    def __init__(self, most: int = 3, per: str | float = "day") -> None:
        self.most, self.per = most, per

    @hookimpl
    def toolmd_guards(self, spec: Any) -> list[Any]:
        del spec
        return [self.guard]

    async def guard(self, call: Any, arguments: Any, context: Any) -> None:
        await context.quota("payments", self.most, key=call.caller.user, per=self.per,
                            needs=arguments["amount"])  # fmt: skip


def shop(tmp_path: Path, plugin: Any = None, policy: str = "", **settings: Any) -> Workspace:
    if not (tmp_path / "tools_md").exists():
        folder = Folder(tmp_path)
        folder.write("toolmd.toml", 'plugins = ["counting"]\ntime_zone = "Europe/Berlin"\n')
        folder.write("tools_md/pay.tool.md", tool("pay", AMOUNT, policy))
        folder.write("tools_md/pay.py", PYTHON)
    plugins = {} if plugin is None else {"counting": plugin}
    return Workspace(load_settings(tmp_path, overrides=settings), plugins=plugins)


def code(result: Any) -> str:
    return result.outcome if result.error is None else result.error.code


@pytest.mark.parametrize("per", ["day", "ever", 3600.0])
def test_a_guard_counts_what_starts_and_nothing_else(tmp_path: Path, per: str | float) -> None:
    with shop(tmp_path, Counting(per=per)) as workspace:

        def pay(amount: float, user: str = "ana", **more: Any) -> str:
            return code(workspace.call_sync("pay", {"amount": amount}, user=user, **more))

        assert pay(2) == "ok"
        assert pay(1, dry_run=True) == "allowed"
        assert pay(2) == "quota_exceeded"
        assert pay(1) == "ok"
        assert pay(1) == "quota_exceeded"
        assert pay(3, user="ben") == "ok"


def test_a_call_that_waits_counts_once_it_starts(tmp_path: Path) -> None:
    policy = "\n## Approval\n\n- **When**: `amount > 1`\n- **By**: manager\n"
    with shop(tmp_path, Counting(), policy) as workspace:
        asked = workspace.call_sync("pay", {"amount": 2}, user="ana").confirmation
        assert asked is not None
        assert code(workspace.call_sync("pay", {"amount": 1}, user="ana")) == "ok"
        approve = workspace.confirmations.approve_sync
        assert code(approve(asked.id, user="eve", roles=["manager"])) == "ok"
        assert code(workspace.call_sync("pay", {"amount": 1}, user="ana")) == "quota_exceeded"


def test_exactly_so_many_racing_calls_pass(tmp_path: Path) -> None:
    import asyncio

    with shop(tmp_path, Counting(10), store="sqlite") as workspace:

        async def race() -> list[str]:
            calls = [workspace.call("pay", {"amount": 1}, user="ana") for _ in range(40)]
            return [code(one) for one in await asyncio.gather(*calls)]

        assert asyncio.run(race()).count("ok") == 10


@pytest.mark.parametrize("per", ["fortnight", ""])
def test_an_unknown_window_denies(tmp_path: Path, per: str) -> None:
    with shop(tmp_path, Counting(per=per)) as workspace:
        result = workspace.call_sync("pay", {"amount": 1}, user="ana")
        assert code(result) == "internal_guard_error"


def test_a_role_that_occurs_once_beside_others_is_hinted_at(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    for name, role in (("a", "support"), ("b", "support"), ("c", "suport")):
        text = tool(name).replace("\n## P", f"- **Allowed Roles**: {role}\n\n## P", 1)
        folder.write(f"tools_md/{name}.tool.md", text)
    folder.write("toolmd.toml", "plugins = []\n")
    with Workspace(load_settings(tmp_path)) as workspace:
        (found,) = [one for one in workspace.diagnostics if one.code == "unknown-role"]
        assert (found.severity, found.span.path) == ("hint", "tools_md/c.tool.md")
        assert "did you mean 'support'?" in found.help


def test_the_record_says_that_an_approval_escalated_or_expired(tmp_path: Path) -> None:
    policy = (
        "\n## Approval\n\n- **When**: always\n- **By**: manager\n- **Expires**: 8 hours\n"
        "- **Escalate**: after 4 hours to head\n"
    )
    shop(tmp_path, None, policy).close()
    now = [1_790_000_000.0]
    settings = load_settings(tmp_path, overrides={"audit.enabled": "true"})
    clock = lambda: dt.datetime.fromtimestamp(now[0], dt.UTC)  # noqa: E731 - one line
    with Workspace(settings, clock=clock) as workspace:
        first, second = (
            workspace.call_sync("pay", {"amount": n}, user="ana").confirmation for n in (1, 2)
        )
        assert first is not None
        assert second is not None
        now[0] += 5 * 3600
        approve = workspace.confirmations.approve_sync
        assert code(approve(first.id, user="zoe", roles=["head"])) == "ok"
        now[0] += 5 * 3600
        assert code(approve(second.id, user="zoe", roles=["head"])) == "approval_expired"
    files = (tmp_path / ".toolmd/audit").rglob("*")
    said = "\n".join(one.read_text() for one in files if one.is_file())
    records = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert any("approval_escalated" in json.dumps(one) for one in records)
    assert any("approval_expired" in json.dumps(one) for one in records)
