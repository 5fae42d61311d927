"""`toolmd accept`: what waits, and the word that makes it live."""

import json

import pytest
from watched_shop import GUARDED, Shop, tool

from toolmd._cli.main import main


@pytest.fixture
def held(shop: Shop) -> Shop:
    shop.tool("say_hello", GUARDED, "def say_hello(): return {}")
    shop.open()
    shop.tool("say_hello")
    return shop


def run(shop: Shop, *words: str) -> int:
    return main(["--project", str(shop.root), *words])


def test_without_a_name_it_lists_pending_changes(held: Shop, capsys) -> None:
    assert run(held, "accept") == 0

    said = capsys.readouterr()
    assert said.out.splitlines()[:3] == [
        "tools_md/say-hello.tool.md:1: say_hello",
        "  - Safety: Min Confidence: 0.7",
        "  + Safety: Min Confidence: none",
    ]
    assert said.err == "1 pending edit: `toolmd accept NAME` makes one live.\n"


def test_a_name_in_kebab_or_snake_makes_it_live_in_every_process(held: Shop, capsys) -> None:
    ws = held.opened[0]
    ws.reload()
    assert ws.changes.list_sync()

    assert run(held, "accept", "say-hello") == 0

    said = capsys.readouterr()
    assert "- Limits: Quota: 3 calls per conversation ever" in said.out
    assert said.err == "say_hello: the edit is live now.\n"
    ws.reload()
    assert not ws.changes.list_sync()
    assert run(held, "accept") == 0
    assert capsys.readouterr().err == "No edit is pending.\n"


def test_its_json_is_a_pending_change(held: Shop, capsys) -> None:
    run(held, "accept", "--json")
    (listed,) = json.loads(capsys.readouterr().out)
    run(held, "accept", "say_hello", "--json")
    told = json.loads(capsys.readouterr().out)

    assert listed == told
    assert told["name"] == "say_hello"
    assert told["weakened"][0] == {"place": "Safety: Min Confidence", "before": 0.7, "after": None}


def test_a_name_without_a_pending_change_is_reported(held: Shop, capsys) -> None:
    held.write("tools_md/other.tool.md", tool("other"))

    assert run(held, "accept", "other") == 5
    assert "other has no change that waits" in capsys.readouterr().err
    assert run(held, "accept", "say_helo") == 5
    assert "did you mean 'say_hello'?" in capsys.readouterr().err


def test_check_lists_pending_changes_and_the_command_to_accept_them(held: Shop, capsys) -> None:
    assert run(held, "check", "--output-format", "concise") == 1

    assert "warning[weakened-policy]" in capsys.readouterr().out
