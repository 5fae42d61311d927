"""Each restricting field, compared on its own: weaker, equal or stricter."""

import pytest

from toolmd._expressions import compile_expression
from toolmd._load.weakening import comparisons, either
from toolmd._types.call_spec import Batch, Limits, Rate, Safety, ToolCallSpec
from toolmd._types.schema import Schema
from toolmd._types.skill import SkillSpec

LOWER = ("min_confidence", "backoff_s", "minimum", "min_length", "min_items")
UPPER = ("timeout_s", "retries", "max_rows", "max_bytes", "max_concurrent",
         "maximum", "max_length", "max_items")  # fmt: skip
DEMANDS = ("requires_confirmation", "explicit_intent", "requires_auth",
           "unique", "sensitive", "verbatim", "durable")  # fmt: skip
EQUAL = ("confirm_when", "crisis_when", "pattern", "format", "context")
EVERY = {
    name: looser
    for owner in (Safety, Limits, ToolCallSpec, Schema, SkillSpec)
    for name, looser in comparisons(owner).items()
}


@pytest.mark.parametrize("name", LOWER)
def test_a_lower_bound_is_weaker_if_it_is_lower_or_removed(name: str) -> None:
    looser = EVERY[name]

    assert looser(2, 1)
    assert looser(0, -1)
    assert looser(0, None)
    assert [looser(2, 2), looser(2, 3), looser(None, 1), looser(None, None)] == [False] * 4


@pytest.mark.parametrize("name", UPPER)
def test_an_upper_bound_is_weaker_if_it_is_higher_or_removed(name: str) -> None:
    looser = EVERY[name]

    assert looser(2, 3)
    assert looser(0, 1)
    assert looser(0, None)
    assert [looser(2, 2), looser(2, 1), looser(None, 1), looser(None, None)] == [False] * 4


@pytest.mark.parametrize("name", DEMANDS)
def test_a_requirement_is_weaker_only_if_it_is_removed(name: str) -> None:
    looser = EVERY[name]

    assert looser(True, False)
    assert [looser(True, True), looser(False, True), looser(False, False)] == [False] * 3


def test_a_context_that_is_no_longer_required_is_weaker() -> None:
    looser = EVERY["requires_context"]

    assert looser(("patient",), ())
    assert looser(("patient", "tenant"), ("tenant",))
    assert [looser((), ("patient",)), looser(("patient",), ("tenant", "patient"))] == [False] * 2


def test_a_new_read_only_claim_is_weaker() -> None:
    looser = EVERY["read_only"]

    assert looser(False, True)
    assert [looser(True, False), looser(True, True), looser(False, False)] == [False] * 3


@pytest.mark.parametrize("name", EQUAL)
def test_a_value_without_an_order_is_weaker_if_it_differs(name: str) -> None:
    looser = EVERY[name]

    assert looser("a", "b")
    assert looser("a", None)
    assert [looser("a", "a"), looser(None, "a"), looser(None, None)] == [False] * 3


@pytest.mark.parametrize(
    ("old", "new", "weaker"),
    [
        ("amount > 500", "amount > 200", False),
        ("amount > 200", "amount > 500", True),
        ("amount > 5", "amount >= 5", False),
        ("amount >= 5", "amount > 5", True),
        ("amount >= 5", "amount > 4.5", False),
        ("amount < 5", "amount <= 6", False),
        ("amount < 5", "amount < 4", True),
        ("amount > 5", "size > 5", True),
        ("amount > 5", "amount < 9", True),
        ("(a) || (b)", "(b) || (a)", False),
        ("a", "(a) || (b)", False),
        ("(a) || (b)", "b", True),
        ("(a == '(') || (b)", "b", True),
        ("a", "a && b", True),
        ("a == '||'", "a == '", True),
        ("a ? b : c", "a ? b : c || d", True),
        ("(a || b) && c", "a || b && c", True),
        ("amount > 5", None, True),
        (None, "amount > 5", False),
    ],
)
@pytest.mark.parametrize("name", ["confirm_when", "crisis_when"])
def test_a_condition_is_weaker_unless_it_surely_holds_as_often(name, old, new, weaker) -> None:
    assert EVERY[name](old, new) is weaker


def test_two_conditions_are_joined_once_and_with_a_limit() -> None:
    joined = either("a > 5", "b")
    assert joined == "(a > 5) || (b)"
    assert either(joined, "b") == either(joined, "a > 5") == joined
    for number in range(20):
        joined = either(joined, f"c == {number}")
    assert joined == "true"
    assert either("a" * 1500, "b" * 1500) == "true"


def test_a_comment_ends_before_the_next_condition() -> None:
    joined = either("amount > 5", "amount > 8 // only big sums")

    assert [compile_expression(joined).evaluate({"amount": n}) for n in (1, 6, 9)] == [
        False, True, True,
    ]  # fmt: skip
    assert either(joined, "amount > 5") == joined


@pytest.mark.parametrize(
    ("name", "loosest_first"),
    [
        ("sensitivity", (None, "low", "medium", "high", "critical")),
        ("idempotent", ("yes", "keyed", "no")),
        ("unknown_parameters", ("ignore", "reject")),
        ("on_missing_confidence", ("confirm", None, "deny")),
    ],
)
def test_levels_are_ordered_and_each_step_down_is_weaker(name: str, loosest_first) -> None:
    for old, before in enumerate(loosest_first):
        for new, after in enumerate(loosest_first):
            assert EVERY[name](before, after) == (new < old), (before, after)


@pytest.mark.parametrize(
    ("name", "old", "looser", "as_strict"),
    [
        ("enum", ("a", "b"), [("a", "c"), ("a", "b", "c"), (), None], [("a",), ("b", "a")]),
        ("enum", (1,), [(True,), ("1",), (1, 1.5)], [(1,)]),
        ("enum", ({"a": 1, "b": 2},), [({"a": 1},)], [({"b": 2, "a": 1},)]),
        ("enum", None, [], [("a",), None]),
        ("intent_keywords", ("Give", "dose"), [("give", "please"), ()], [("GIVE",), ("Dose",)]),
        ("intent_keywords", (), [], [("give",), ()]),
        ("allowed_tools", ("Read", "Grep"), [("Read", "Write"), ()], [("Grep", "Read"), ("Read",)]),
        ("allowed_tools", (), [], [("Read",), ()]),
        ("disallowed_tools", ("Read", "Grep"), [("Read",), ()], [("Grep", "Read", "Write")]),
        ("model_invocation", False, [True], [False]),
        ("user_invocable", False, [True], [False]),
        ("model_invocation", True, [], [True, False]),
        ("types", ("string", "null"), [("string", "array"), ()], [("null",), ("string",)]),
        ("types", ("number",), [("string",), ("integer", "string")], [("integer",), ("number",)]),
        ("types", ("integer",), [("number",)], [("integer",)]),
        ("types", (), [], [("string",), ()]),
        ("allowed_domains", ("a.org",), [("b.org",), ("a.org", "b.org"), ("x.a.org",), ("*.a.org",),
                                         ()],
         [("A.ORG",)]),
        ("allowed_domains", ("*.a.org", "b.org"),
         [("a.org",), ("xa.org",), ("*.b.org",), ("*.org",), ("a.org.evil",), ("x.a.org", "c.org")],
         [("x.a.org",), ("b.org", "y.X.a.org"), ("*.x.A.org",), ("*.a.org",)]),
        ("allowed_domains", ("a.org", "*.a.org"), [], [("a.org",), ("x.a.org",)]),
        ("allowed_domains", (), [], [("a.org",), ()]),
        ("rate", Rate(3, 60.0), [Rate(4, 60.0), Rate(3, 59.0), Rate(4, 61.0), Rate(2, 59.0), None],
         [Rate(3, 60.0), Rate(2, 60.0), Rate(3, 61.0)]),
        ("rate", None, [], [Rate(3, 60.0), None]),
        ("max_batch", Batch("days", 4), [Batch("days", 5), Batch("codes", 4), Batch("codes", 1),
                                         None],
         [Batch("days", 4), Batch("days", 3)]),
        ("max_batch", None, [], [Batch("days", 4), None]),
    ],
)  # fmt: skip
def test_a_list_is_weaker_if_it_allows_one_more_value(name: str, old, looser, as_strict) -> None:
    assert [new for new in looser if not EVERY[name](old, new)] == []
    assert [new for new in as_strict if EVERY[name](old, new)] == []


def test_every_field_is_compared_here() -> None:
    several = {"enum", "intent_keywords", "types", "allowed_domains", "rate", "max_batch"}
    several |= {
        "quotas",
        "allowed_roles",
        "allowed_hours",
        "allowed_tools",
        "disallowed_tools",
        "model_invocation",
        "user_invocable",
    }
    ranked = {"sensitivity", "idempotent", "unknown_parameters", "on_missing_confidence"}

    assert EVERY.keys() == {
        *LOWER,
        *UPPER,
        *DEMANDS,
        *EQUAL,
        *several,
        *ranked,
        "read_only",
        "requires_context",
    }
