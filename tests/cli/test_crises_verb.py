"""`toolmd crises`: what an operator sees and clears."""

import json
from pathlib import Path
from typing import Any

import pytest

from toolmd import Workspace


def test_a_flagged_conversation_is_listed_and_cleared(
    console: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLMD_STORE", "sqlite")
    (tmp_path / "toolmd.toml").write_text('[safety]\ncrisis_words = ["mayday"]\n')
    assert console("crises").err == "No conversation is flagged.\n"
    with Workspace.open(tmp_path) as workspace:
        assert workspace.crises.heard_sync("Mayday!", conversation="c1", user="ana")
        assert not workspace.crises.heard_sync("Fine.", conversation="c2")
        assert workspace.crises.heard_sync("mayday")

    listed = console("crises")
    assert listed.out.startswith("c1  user ana  since ")
    assert listed.err == (
        "1 flagged conversation: `toolmd crises CONVERSATION [--user ID]` clears one.\n"
    )
    (told,) = json.loads(console("crises", "--json").out)
    assert (told["conversation"], told["user"]) == ("c1", "ana")

    other = console("crises", "c1")
    assert other.code == 5
    assert "conversation 'c1' has no crisis flag" in other.err
    cleared = console("crises", "c1", "--user", "ana", "--json")
    assert (cleared.code, cleared.err) == (0, "c1: the crisis flag is cleared.\n")
    assert json.loads(cleared.out) == {"cleared": "c1"}
    assert console("crises", "--json").out.strip() == "[]"
