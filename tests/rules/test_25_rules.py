"""Twenty-five rules that businesses have, as one project: what is allowed, and what is not.

Twenty are stated exactly, by the files alone. Three need more than a file can say: rule 8 compares
each new item with its product, which a tool that takes the list must look up; rule 12 rests on
whether a stated reason is true, and rule 15 on whether somebody complains, which only a person or
the tool's own Python judges. Two are no permissions: rule 16 is about a call that was not made, and
rule 20 is a reminder, which the host sends.
"""

import datetime as dt
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from toolmd import Workspace
from toolmd.config import load_settings

PROJECT = Path(__file__).parent / "project"
PAGE = Path(__file__).parents[2] / "docs/how-to/state-a-rule.md"
NOW = dt.datetime(2030, 5, 6, 10, 0, tzinfo=dt.UTC)
"""A Monday, noon in Berlin."""
C1: dict[str, Any] = {"user": "ana", "context": {"customer": "c1"}}
CANCEL = {"order_id": "o1", "reason": "no longer needed"}
CHANGE = {"origin": "BER", "destination": "LIS", "passengers": 2, "bags": 1}
CARD = {"id": "card-1", "kind": "credit card"}
GIFT = {"id": "gift-1", "kind": "gift card"}
OTHER = {"id": "card-9", "kind": "credit card"}
DINNER = {"category": "entertainment", "amount": 401, "attendees": 2}
FLIGHT = {"category": "flight", "amount": 900}
PARKING = {"category": "parking", "amount": 31}


class Case(NamedTuple):
    """A call, by the rule that it shows."""

    rule: int
    tool: str
    arguments: dict[str, Any]
    expected: str
    """The outcome, or the code of the denial."""
    caller: dict[str, Any] = C1
    first: tuple[dict[str, Any], ...] = ()
    """The arguments of calls before."""
    at: dt.datetime = NOW


def booking(name: str, **more: Any) -> dict[str, Any]:
    return {"booking_id": name, **more}


CASES = [
    Case(1, "cancel_order", CANCEL, "confirm"),
    Case(1, "cancel_order", CANCEL | {"order_id": "o2"}, "not_allowed"),
    Case(1, "cancel_order", CANCEL, "not_allowed", {"user": "eve"}),
    Case(2, "cancel_order", CANCEL, "confirm"),
    Case(3, "cancel_order", CANCEL | {"order_id": "o3"}, "not_allowed"),
    Case(4, "cancel_order", CANCEL | {"reason": "bored"}, "invalid_arguments"),
    Case(5, "modify_items", {"order_id": "o1", "items": ["a"]}, "ok"),
    Case(5, "modify_items", {"order_id": "o1", "items": ["b"]}, "quota_exceeded",
         first=({"order_id": "o1", "items": ["a"]},)),
    Case(5, "modify_items", {"order_id": "o3", "items": ["b"]}, "ok",
         first=({"order_id": "o1", "items": ["a"]},)),
    Case(6, "pay_order", {"order_id": "o1", "method": "gift-1"}, "ok"),
    Case(6, "pay_order", {"order_id": "o1", "method": "card-1"}, "not_allowed"),
    Case(6, "pay_order", {"order_id": "o3", "method": "gift-1"}, "not_allowed"),
    Case(7, "return_order", {"order_id": "o1", "method": "card-1"}, "ok"),
    Case(7, "return_order", {"order_id": "o1", "method": "gift-1"}, "ok"),
    Case(7, "return_order", {"order_id": "o1", "method": "card-9"}, "not_allowed"),
    Case(9, "book_flight", {"passengers": ["a"] * 5, "payments": [CARD]}, "ok"),
    Case(9, "book_flight", {"passengers": ["a"] * 6, "payments": [CARD]}, "invalid_arguments"),
    Case(10, "book_flight", {"passengers": ["a"], "payments": [CARD, GIFT, GIFT, GIFT]}, "ok"),
    Case(10, "book_flight", {"passengers": ["a"], "payments": [CARD, CARD]}, "invalid_arguments"),
    Case(10, "book_flight", {"passengers": ["a"], "payments": [GIFT] * 4}, "invalid_arguments"),
    Case(11, "book_flight", {"passengers": ["a"], "payments": [OTHER]}, "not_allowed"),
    Case(12, "cancel_booking", booking("new", covered=False), "ok"),
    Case(12, "cancel_booking", booking("business", covered=False), "ok"),
    Case(12, "cancel_booking", booking("insured", covered=True), "ok"),
    Case(12, "cancel_booking", booking("insured", covered=False), "not_allowed"),
    Case(12, "cancel_booking", booking("old", covered=True), "not_allowed"),
    Case(13, "change_booking", booking("old", **CHANGE), "ok"),
    Case(13, "change_booking", booking("basic", **CHANGE), "not_allowed"),
    Case(13, "change_booking", booking("old", **CHANGE | {"origin": "MUC"}), "not_allowed"),
    Case(14, "change_booking", booking("old", **CHANGE | {"bags": 3}), "ok"),
    Case(14, "change_booking", booking("old", **CHANGE | {"bags": 0}), "not_allowed"),
    Case(14, "change_booking", booking("old", **CHANGE | {"passengers": 3}), "not_allowed"),
    Case(15, "compensate", booking("insured", amount=200), "ok",
         C1 | {"message": "I want compensation."}),
    Case(15, "compensate", booking("insured", amount=201), "not_allowed",
         C1 | {"message": "I want compensation."}),
    Case(15, "compensate", booking("insured", amount=200), "no_explicit_intent",
         C1 | {"message": "Thank you."}),
    Case(17, "bank_transfer", {"amount": 1}, "review"),
    Case(18, "pay_invoice", {"amount": 1}, "review"),
    Case(19, "bank_transfer", {"amount": 1}, "not_allowed", at=NOW + dt.timedelta(hours=4)),
    Case(21, "file_expense", DINNER, "review"),
    Case(21, "file_expense", DINNER | {"amount": 400}, "ok"),
    Case(21, "file_expense", FLIGHT | {"hours": 7}, "review"),
    Case(21, "file_expense", FLIGHT | {"hours": 6}, "ok"),
    Case(22, "file_expense", PARKING, "quota_exceeded"),
    Case(22, "file_expense", PARKING | {"amount": 10}, "ok",
         first=(PARKING | {"amount": 20},)),
    Case(22, "file_expense", PARKING | {"amount": 11}, "quota_exceeded",
         first=(PARKING | {"amount": 20},)),
    Case(22, "file_expense", FLIGHT, "ok", first=(PARKING | {"amount": 30},)),
    Case(23, "read_record", {"patient": "p1"}, "ok",
         {"user": "d", "roles": ["doctor"], "context": {"patients": ["p1"]}}),
    Case(23, "read_record", {"patient": "p2"}, "not_allowed",
         {"user": "d", "roles": ["doctor"], "context": {"patients": ["p1"]}}),
    Case(23, "read_record", {"patient": "p2", "reason": "An emergency at night"}, "ok",
         {"user": "d", "roles": ["doctor"], "context": {"patients": ["p1"]}}),
    Case(24, "deploy", {"commit": "c0ffee"}, "review"),
    Case(25, "invite", {"email": "a@example.org"}, "review"),
    Case(25, "invite", {"email": "a@example.org"}, "ok", {"user": "ana", "roles": ["admin"]}),
]  # fmt: skip
PARTLY, NO_PERMISSIONS = {8, 12, 15}, {16, 20}


@pytest.fixture
def opened() -> Iterator[list[Workspace]]:
    kept: list[Workspace] = []
    yield kept
    for workspace in kept:
        workspace.close()


def open_at(opened: list[Workspace], at: list[dt.datetime], tmp_path: Path) -> Workspace:
    settings = load_settings(PROJECT, overrides={"state": str(tmp_path)}, environ={})
    opened.append(Workspace(settings, clock=lambda: at[0]))
    return opened[-1]


def code(result: Any) -> str:
    return result.outcome if result.error is None else result.error.code


@pytest.mark.parametrize("case", CASES)
def test_a_call_has_the_outcome_that_its_rule_states(opened, tmp_path, case: Case) -> None:
    workspace = open_at(opened, [case.at], tmp_path)
    for before in case.first:
        assert workspace.call_sync(case.tool, before, **case.caller).outcome == "ok"
    result = workspace.call_sync(case.tool, case.arguments, **case.caller)
    assert code(result) == case.expected, result


APPROVALS = [
    (17, "bank_transfer", {"amount": 1}, [("bob", ["approver"], {}, "ok")]),
    (17, "bank_transfer", {"amount": 1}, [("ana", ["approver"], {}, "not_allowed")]),
    (18, "pay_invoice", {"amount": 5}, [("bob", ["approver"], {"limit": 5}, "ok")]),
    (18, "pay_invoice", {"amount": 5}, [("bob", ["approver"], {"limit": 4}, "not_allowed")]),
    (18, "pay_invoice", {"amount": 5}, [("bob", ["approver"], {}, "not_allowed")]),
    (21, "file_expense", DINNER, [("bob", ["vp"], {}, "not_allowed"),
                                  ("bob", ["manager"], {}, "ok")]),
    (21, "file_expense", FLIGHT | {"hours": 7}, [("bob", ["manager"], {}, "not_allowed"),
                                                 ("bob", ["vp"], {}, "ok")]),
    (24, "deploy", {"commit": "c"}, [("ana", ["lead"], {}, "not_allowed"),
                                     ("bob", ["reviewer"], {}, "review"),
                                     ("bob", ["lead"], {}, "not_allowed"),
                                     ("zoe", ["lead"], {}, "ok")]),
    (25, "invite", {"email": "a@example.org"}, [("bob", ["owner"], {}, "ok")]),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "tool", "arguments", "decisions"), APPROVALS)
def test_a_second_person_decides_as_the_rule_states(
    opened, tmp_path, rule: int, tool: str, arguments: Any, decisions: Any
) -> None:
    del rule
    workspace = open_at(opened, [NOW], tmp_path)
    asked = workspace.call_sync(tool, arguments, **C1).confirmation
    assert asked is not None
    for user, roles, facts, expected in decisions:
        result = workspace.confirmations.approve_sync(
            asked.id, user=user, roles=roles, context=facts
        )
        assert code(result) == expected, result


def test_what_nobody_approved_by_the_cut_off_never_runs(opened, tmp_path) -> None:
    for hours, expected in ((5, "not_allowed"), (9, "approval_expired")):
        at = [NOW]
        workspace = open_at(opened, at, tmp_path)
        asked = workspace.call_sync("bank_transfer", {"amount": hours}, **C1).confirmation
        assert asked is not None
        at[0] += dt.timedelta(hours=hours)
        late = workspace.confirmations.approve_sync(asked.id, user="bob", roles=["approver"])
        assert code(late) == expected


def test_an_edit_needs_another_reviewer(opened, tmp_path) -> None:
    workspace = open_at(opened, [NOW], tmp_path)
    asked = workspace.call_sync("bank_transfer", {"amount": 1}, **C1).confirmation
    assert asked is not None
    approve = workspace.confirmations.approve_sync
    assert code(approve(asked.id, {"amount": 2}, user="bob", roles=["approver"])) == "review"
    assert code(approve(asked.id, user="bob", roles=["approver"])) == "not_allowed"
    assert code(approve(asked.id, user="zoe", roles=["approver"])) == "ok"


def test_twenty_rules_are_stated_exactly_and_each_has_calls(opened, tmp_path) -> None:
    workspace = open_at(opened, [NOW], tmp_path)
    assert workspace.diagnostics == ()
    shown = {case.rule for case in CASES}
    exact = {*range(1, 26)} - PARTLY - NO_PERMISSIONS
    assert len(exact) == 20
    assert exact <= shown


def test_the_page_shows_what_the_project_has() -> None:
    files = "\n".join(one.read_text("utf-8") for one in PROJECT.rglob("*.tool.md"))
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if re.match(r"\| \d+ ", line)]
    assert [int(re.findall(r"\d+", row)[0]) for row in rows] == [*range(1, 26)]
    for row in rows:
        for _, span in re.findall(r"(?<!`)(`+)(?!`) ?(.+?) ?(?<!`)\1(?!`)", row.split("|", 3)[3]):
            assert span.replace("\\|", "|") in files, (row, span)
