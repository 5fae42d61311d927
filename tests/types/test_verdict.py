"""The order of actions from mild to strict, and the codes of denials."""

import re
from pathlib import Path

from toolmd._types.verdict import DENIALS, Action, Problem, Verdict

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "behaviour.md"


def test_actions_are_ordered_from_mild_to_strict():
    assert sorted(Action, reverse=True) == [
        Action.DENY,
        Action.REVIEW,
        Action.CONFIRM,
        Action.ALLOW,
    ]


def test_the_denials_are_the_codes_of_the_checks_before_the_run():
    checks = PAGE.read_text("utf-8").partition("## Checks")[2].partition("\n| `run` |")[0]
    rows = re.findall(r"^\| `\w+` \|.*\| (.*) \|$", checks, re.MULTILINE)
    assert len(rows) == 11
    codes = {code for row in rows if "outcome" not in row for code in re.findall(r"`(\w+)`", row)}
    of_no_tool = {"unknown_tool", "invalid_plan"}
    assert codes - of_no_tool | {"internal_guard_error"} == DENIALS


def test_omitted_fields_are_empty():
    assert Verdict(Action.DENY) == (Action.DENY, "", "", (), None)
    assert Problem("a", "b", "c") == ("a", "b", "c", "", "")
