"""On a real terminal: questions, colours, NO_COLOR."""

import json
import re
from pathlib import Path

import pytest
from tests.terminal import Terminal

COLOUR = re.compile(r"\x1b\[\d+m")


def typed(folder: Path, *words: str, says: str = "", no_color: str = "") -> tuple[str, int]:
    """Type a command on a terminal of its own, and answer its first question."""
    terminal = Terminal(folder, *words, TERM="xterm", NO_COLOR=no_color)
    if says:
        terminal.wait("[y/N]")
        terminal.type(says)
    code = terminal.end()
    return terminal.shown, code


BOUQUET = ("run", "make_bouquet", "kind=rose", "number=3")


@pytest.mark.parametrize(
    ("says", "code", "last"), [("y", 0, "done."), ("n", 1, "Nothing was sold.")]
)
def test_a_person_is_asked(shop, says: str, code: int, last: str) -> None:
    shown, ended = typed(shop.folder, *BOUQUET, says=says)
    assert "number: 3. Is this correct? [y/N]" in shown
    assert shown.rstrip().endswith(last)
    assert ended == code


def test_colours_go_to_a_terminal_only(shop) -> None:
    assert COLOUR.search(typed(shop.folder, "list")[0])
    assert not COLOUR.search(shop("list").out)


def test_no_color_is_respected(shop) -> None:
    assert not COLOUR.search(typed(shop.folder, "list", no_color="1")[0])


def test_a_files_text_does_not_steer_the_terminal(shop) -> None:
    shop.write("tools_md/evil.tool.md", "# Evil\n\n## Metadata\n\n- **\x1b[2JNmae**: x\n")
    shown, _ = typed(shop.folder, "check")
    assert "\x1b[2J" not in shown
    assert "<U+001B>" in shown


def test_progress_goes_to_a_terminal_only(shop) -> None:
    shop.write(
        "tools_md/sell_flowers.py",
        "async def sell_flowers(kind, number, note=None, *, context):\n"
        "    await context.progress('cutting \\x1b[2Jthem', 0.5)\n"
        "    await context.progress('tying')\n"
        "    return 'done'\n",
    )
    call = ("call", "sell_flowers", "kind=rose", "number=1")
    shown, code = typed(shop.folder, *call, no_color="1")
    assert code == 0, shown
    assert " 50% cutting <U+001B>[2Jthem\ntying\n" in shown
    assert "tying" not in shop(*call).err
    assert "tying" not in typed(shop.folder, *call, "--json")[0]


@pytest.mark.parametrize(("says", "code"), [("y", 0), ("n", 3), ("", 3)])
def test_what_a_person_answers_decides_the_call(
    shop, says: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLMD_STORE", "sqlite")
    file = shop.folder / "tools_md/sell-flowers.tool.md"
    safety = "\n## Safety\n\n- **Requires Confirmation**: true\n"
    file.write_text(file.read_text("utf-8") + safety, "utf-8")
    call = ("call", "sell_flowers", "kind=rose", "number=1")
    assert shop(*call).code == 4
    terminal = Terminal(shop.folder, *call, NO_COLOR="1")
    terminal.wait("[y/N]")
    terminal.type(says)
    assert terminal.end() == code, terminal.shown
    assert "waits" not in terminal.shown
    assert json.loads(shop("pending", "--json").out) == []


@pytest.mark.parametrize("words", [("call", "gift_flowers", "kind=rose", "--yes"), ("confirm",)])
def test_a_confirmed_call_shows_its_progress(
    shop, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLMD_STORE", "sqlite")
    shop.write(
        "tools_md/gift-flowers.tool.md",
        "# Gift Flowers\n\nGive flowers away.\n\n## Metadata\n\n- **Name**: gift_flowers\n"
        "- **Version**: 1.0.0\n- **Category**: stock\n\n## Parameters\n\n### kind\n\n"
        "- **Type**: string\n- **Required**: true\n\n## Returns\n\n- **Type**: string\n\n"
        "## Safety\n\n- **Requires Confirmation**: true\n",
    )
    shop.write(
        "tools_md/gift_flowers.py",
        "async def gift_flowers(kind, *, context):\n"
        "    await context.progress('tying', 0.5)\n"
        "    return 'done'\n",
    )
    if words == ("confirm",):
        asked = shop("call", "gift_flowers", "kind=rose", "--json").out
        words = ("confirm", json.loads(asked)["confirmation"]["id"])
    shown, code = typed(shop.folder, *words, no_color="1")
    assert code == 0, shown
    assert " 50% tying\n" in shown
