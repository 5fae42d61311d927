"""Rulings from mild to strict, and the codes of refusals."""

import re
from pathlib import Path

from toolmd._types.verdict import DENIALS, Action, Problem, Verdict

LADDER = Path(__file__).parents[2] / "docs" / "reference" / "behaviour.md"


def test_rulings_stand_from_mild_to_strict():
    assert sorted(Action, reverse=True) == [
        Action.DENY,
        Action.REVIEW,
        Action.CONFIRM,
        Action.ALLOW,
    ]


def test_the_refusals_are_those_of_the_ladder():
    rows = re.findall(r"^\| [0-8]a? \|.*\| (.*) \|$", LADDER.read_text("utf-8"), re.MULTILINE)
    assert len(rows) == 10
    codes = {code for row in rows if "held" not in row for code in re.findall(r"`(\w+)`", row)}
    of_no_tool = {"unknown_tool", "invalid_plan"}
    assert codes - of_no_tool | {"internal_guard_error"} == DENIALS


def test_what_nobody_said_is_empty():
    assert Verdict(Action.DENY) == (Action.DENY, "", "", (), None)
    assert Problem("a", "b", "c") == ("a", "b", "c", "", "")
