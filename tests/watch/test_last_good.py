"""A broken file keeps what it said last."""

import os

import pytest
from watched_shop import Shop, codes, skill, tool

CRITICAL = "\n## Safety\n\n- **Sensitivity**: critical\n"
BROKEN = {
    "half": b"# Greet\n\nDoes gre",
    "empty": b"",
    "binary": b"\xff\xfe\x00",
    "too large": b"x" * 70_000,
    "unknown field": tool(
        "greet", extra="\n## Safety\n\n- **Requires Confirmatio**: true\n"
    ).encode(),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_file_keeps_the_last_good_version_over_a_restart(shop: Shop, broken: str) -> None:
    shop.tool("greet", "", "def greet(): return {'n': 1}")
    ws = shop.open()
    file = shop.write("tools_md/greet.tool.md", BROKEN[broken])

    ws.reload()
    ws.close()
    again = shop.open()

    for one in (ws.registry, again.registry):
        bound = one.tools["greet"]
        assert bound.stale
        assert any(found.severity == "error" for found in bound.diagnostics)
        assert "stale-definition" in {str(found.code) for found in one.diagnostics}
    assert again.call_sync("greet").data == {"n": 1}
    file.write_text(tool("greet"))
    again.reload()
    assert not again.tools["greet"].stale
    assert again.diagnostics == ()


def test_a_critical_tool_of_a_broken_file_is_suspended(shop: Shop) -> None:
    file = shop.tool("greet", CRITICAL, "def greet(): return {}")
    ws = shop.open()
    assert ws.call_sync("greet").outcome == "confirm"

    file.write_text("# Gre")
    ws.reload()

    error = ws.call_sync("greet").error
    assert error.code == "unknown_tool"
    assert (
        "it is suspended, because its file is broken: tools_md/greet.tool.md:1: " in error.message
    )
    assert "suspended-tool" in codes(ws)
    assert "greet" not in shop.open().tools
    shop.tool("greet", CRITICAL)
    ws.reload()
    assert ws.call_sync("greet").outcome == "confirm"


def test_a_file_that_was_never_good_keeps_nothing(shop: Shop) -> None:
    shop.write("tools_md/greet.tool.md", "# Gre")

    assert not shop.open().tools


def test_a_deleted_file_removes_the_tool(shop: Shop) -> None:
    file = shop.tool("greet", "", "def greet(): return {}")
    ws = shop.open()

    file.unlink()
    ws.reload()

    assert not ws.tools
    assert ws.diagnostics == ()
    assert ws.call_sync("greet").error.code == "unknown_tool"


def test_a_broken_file_that_is_deleted_removes_the_tool(shop: Shop) -> None:
    file = shop.tool("greet", "", "def greet(): return {}")
    ws = shop.open()
    file.write_text("")
    ws.reload()

    file.unlink()
    ws.reload()

    assert not ws.tools


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="there are no links here")
def test_a_file_that_became_a_link_to_elsewhere_keeps_its_last_version(shop: Shop) -> None:
    file = shop.tool("greet", "", "def greet(): return {}")
    ws = shop.open()
    other = shop.write("elsewhere.md", tool("greet"))
    file.unlink()

    file.symlink_to(other)
    ws.reload()

    assert ws.tools["greet"].stale
    assert "outside-root" in codes(ws)


def test_a_skill_whose_tools_changed_keeps_its_last_good_version(shop: Shop) -> None:
    shop.tool("greet", "", "def greet(): return {}")
    file = shop.write("skills_md/hello.skill.md", skill("hello", "greet"))
    ws = shop.open()

    file.write_text(skill("hello", "great"))
    ws.reload()

    assert ws.skills["hello"].stale
    assert ws.run_sync("hello", {}).success
    assert "unknown-tool" in codes(ws)
    assert shop.open().skills["hello"].stale
    (shop.root / "tools_md/greet.tool.md").unlink()
    ws.reload()
    assert not ws.skills


def test_a_broken_file_keeps_its_pending_policy_in_force(shop: Shop) -> None:
    safety = "\n## Safety\n\n- **Requires Confirmation**: true\n"
    file = shop.tool("greet", safety, "def greet(): return {}")
    ws = shop.open()
    shop.tool("greet")
    ws.reload()

    file.write_text("")
    ws.reload()

    assert ws.tools["greet"].stale
    assert ws.call_sync("greet").outcome == "confirm"


PYTHON = "from ._words import WORD\ndef greet(): return {'n': WORD}\n"


@pytest.mark.parametrize(
    ("path", "broken"),
    [
        ("tools_md/greet.py", "def greet(:"),
        ("tools_md/greet.py", "def gree(): ...\n"),
        ("tools_md/greet.py", "from ._words import NOTHING\ndef greet(): ...\n"),
        ("tools_md/greet.py", "def greet(more): ...\n"),
        ("tools_md/_words.py", "WORD = \n"),
        ("tools_md/_words.py", "raise OSError('no disk')\n"),
    ],
)
def test_python_that_can_not_be_imported_fails_its_tools_until_it_is_saved_again(
    shop: Shop, path: str, broken: str
) -> None:
    shop.write("tools_md/_words.py", "WORD = 1\n")
    shop.tool("greet", "", PYTHON)
    shop.tool("other", "", "def other(): return {'n': 'old'}")
    ws = shop.open()
    assert ws.call_sync("greet").data == {"n": 1}

    good = (shop.root / path).read_text()
    shop.write(path, broken)
    shop.write("tools_md/other.py", "def other(): return {'n': 'new'}")
    ws.reload()

    for _ in range(2):
        result = ws.call_sync("greet")
        assert (result.outcome, result.error.code) == ("failed", "tool_error")
        assert path in result.error.message
    assert ws.call_sync("other").data == {"n": "new"}
    assert path in str(ws.diagnostics)
    assert ws.reload() is ws.reload()
    shop.write(path, good.replace("WORD = 1", "WORD = 2"))
    ws.reload()
    assert ws.diagnostics == ()
    assert ws.call_sync("greet").success


def test_a_broken_plugin_of_a_folder_fails_calls_of_its_tools(shop: Shop) -> None:
    shop.write("tools_md/plugin.py", "")
    shop.tool("greet", "", "def greet(): return {}")
    ws = shop.open()
    assert ws.call_sync("greet").success

    shop.write("tools_md/plugin.py", "def (")
    ws.reload()

    assert ws.call_sync("greet").outcome == "denied"
