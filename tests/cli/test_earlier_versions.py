"""A call says on stderr where an earlier version of a file runs, and why."""

import json

import pytest

CALL = ("call", "sell_flowers", "kind=rose", "number=2")


def broken(shop) -> None:
    path = shop.folder / "tools_md" / "sell-flowers.tool.md"
    path.write_text(
        path.read_text("utf-8").replace("**Type**: integer", "**Type**: intgr"), "utf-8"
    )


def weakened(shop) -> None:
    path = shop.folder / "tools_md" / "sell-flowers.tool.md"
    path.write_text(path.read_text("utf-8").replace("- **Minimum**: 1\n", ""), "utf-8")


def test_a_call_of_a_valid_file_prints_no_warning(shop) -> None:
    assert shop(*CALL).err == ""


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_call_warns_that_the_last_good_version_of_a_broken_file_runs(shop, more) -> None:
    assert shop(*CALL).code == 0
    broken(shop)
    typed = shop(*CALL, *more)
    assert typed.code == 0
    (line,) = typed.err.splitlines()
    assert line.startswith("warning: the last good version of sell_flowers runs")
    assert "unknown type 'intgr'" in line
    assert "`toolmd check`" in line
    if more:
        assert json.loads(typed.out)["outcome"] == "ok"
    else:
        assert typed.out == "2 x rose\n"


def test_a_call_names_the_pending_weakening_edit(shop) -> None:
    assert shop(*CALL).code == 0
    weakened(shop)
    typed = shop("call", "sell_flowers", "kind=rose", "number=0")
    assert typed.code == 3
    assert "warning: sell_flowers runs with its stricter earlier policy" in typed.err
    assert "Minimum: 1 → none" in typed.err
    assert "`toolmd accept sell_flowers`" in typed.err


def test_handle_names_the_tools_that_run_an_earlier_version(shop) -> None:
    assert shop(*CALL).code == 0
    broken(shop)
    call = {"id": "1", "tool": "sell_flowers", "parameters": {"kind": "rose", "number": 2}}
    typed = shop("handle", "--json", stdin=f"[TOOL_CALL:{json.dumps(call)}]")
    assert json.loads(typed.out)["results"][0]["tool"] == "sell_flowers"
    assert "the last good version of sell_flowers runs" in typed.err


def test_a_run_names_the_tools_that_run_an_earlier_version(shop) -> None:
    assert shop(*CALL).code == 0
    broken(shop)
    typed = shop("run", "make-bouquet", "kind=rose", "number=2", "--yes")
    assert typed.code == 0
    assert typed.err.count("the last good version of sell_flowers runs") == 1


def test_the_cause_comes_before_its_consequences(shop) -> None:
    assert shop(*CALL).code == 0
    broken(shop)
    found = json.loads(shop("check", "--output-format", "json").out)
    ours = [one["code"] for one in found if "sell" in one["path"]]
    assert ours == ["unknown-type", "stale-definition"]
