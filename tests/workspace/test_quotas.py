"""Quotas of a file: how they are read, counted, given back, and denied."""

import asyncio
import sys
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.command import apart
from tests.definitions import tool
from workspace_shop import Shop

from toolmd import Workspace, load_settings, parse_tool
from toolmd._types.quota import UNITS, Quota, as_strict, window_of

SETTINGS = (
    'plugins = []\ntime_zone = "Europe/Berlin"\n\n[identity]\nfacts = { tenant = "string" }\n'
)
PARAMETERS = (
    "### order_id\n\n- **Type**: string\n- **Required**: true\n\n"
    "### amount\n\n- **Type**: number\n- **Required**: true\n- **Minimum**: 0\n\n"
    "### category\n\n- **Type**: string\n\n"
)
PYTHON = """
from toolmd import ToolError

def refund(order_id, amount, category=""):
    if order_id == "refused":
        raise ToolError("no such order")
    if order_id == "broken":
        raise RuntimeError("halfway")
    return order_id
"""


def write(shop: Shop, *quotas: str, extra: str = "", metadata: str = "") -> None:
    """Write a shop with one tool and these quotas."""
    lines = "".join(f"  - {one}\n" for one in quotas)
    quota = f" {quotas[0]}\n" if len(quotas) == 1 else f"\n{lines}"
    text = tool("refund", PARAMETERS, f"## Limits\n\n- **Quota**:{quota}\n{extra}")
    text = text.replace("\n## Parameters", f"{metadata}\n## Parameters")
    shop.write("tools_md/refund.tool.md", text)
    shop.write("tools_md/refund.py", PYTHON)
    shop.write("toolmd.toml", SETTINGS)


class Hours:
    """A workspace whose clock the test sets."""

    def __init__(self, shop: Shop, store: str = "memory") -> None:
        self.now = datetime(2026, 11, 29, 22, 0, tzinfo=UTC)  # 23:00 in Berlin, a Sunday
        settings = load_settings(shop.root, overrides={"store": store})
        self.workspace = Workspace(settings, clock=lambda: self.now)
        shop.opened.append(self.workspace)

    def call(self, order_id: str = "a", amount: float = 1, **named: Any) -> str:
        """Call, and return the outcome, or the code of the error."""
        caller = {"user": "ana", **named}
        arguments = {"order_id": order_id, "amount": amount}
        if category := caller.pop("category", ""):
            arguments["category"] = category
        result = self.workspace.call_sync("refund", arguments, **caller)
        self.error = result.error
        return result.error.code if result.error is not None else result.outcome

    def calls(self, times: int, **named: Any) -> list[str]:
        """Call several times."""
        return [self.call(**named) for _ in range(times)]


FULL = "quota_exceeded"
TEXTS = [
    "3 calls per user per day",
    "3 calls per user in 24h",
    "500 of `amount` per user per day",
    "1 call per `order_id` ever",
    "100 calls per tenant per hour",
    "500 of `amount` per `order_id + 'x'` per month",
    "30 of `amount` per user per day when `amount > 20`",
    "20 calls per conversation ever",
    "2 calls per user and `order_id` in 7min",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_quota_is_read_written_and_read_again(shop: Shop, text: str) -> None:
    write(shop, text)
    with shop.open() as workspace:
        assert not workspace.registry.diagnostics
        (quota,) = workspace.tools["refund"].spec.limits.quotas
        assert str(quota) == text
        assert workspace.tools["refund"].spec.canonical["limits"]["quotas"][0]["per"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("3 Calls Per User A Day", TEXTS[0]),
        ("3 calls each user every day", TEXTS[0]),
        ("3 per user per day", TEXTS[0]),
        ("3 calls per day per user", TEXTS[0]),
        ("3 calls per user in 1 day", TEXTS[1]),
        ("500 of amount per user per day", TEXTS[2]),
    ],
)
def test_other_words_mean_the_same_quota(shop: Shop, written: str, meant: str) -> None:
    write(shop, written)
    with shop.open() as workspace:
        assert [*map(str, workspace.tools["refund"].spec.limits.quotas)] == [meant]


@pytest.mark.parametrize(
    ("text", "help_"),
    [
        ("3 calls per day", "`3 calls per user per day`, or per project for all"),
        ("3 calls per user", "per day"),
        ("3/d", "`3 calls per user per day`"),
        ("daily", "`3 calls per user per day`"),
        ("3x a day", "`3 calls per user per day`"),
        ("2.5 calls per user per day", "2.5 of PARAMETER"),
        ("0 calls per user per day", "calls per user per day"),
        ("3 calls per role per day", "per user"),
        ("3 calls per caller per day", "per user"),
        ("3 calls per user per day, 9 per user per week", "nested bullet"),
        ("3 calls per user per day in 24h", "nested bullet"),
        ("3 calls per user per fortnite", "per day"),
        ("3 calls per order_id ever", "per `order_id`"),
        ("3 of order_id per user per day", "number"),
        ("3 of price per user per day", ""),
        ("3 of `amount` per `amount` per day", "per something else"),
        ("3 calls per user per day when category == 'x'", "code span"),
        ("3 calls per user per day when `amount`", "compare"),
        ("20000 calls per user in 24h", "per day"),
        ("3 calls per tennant per day", "did you mean 'tenant'?"),
    ],
)
def test_a_quota_that_is_not_exact_is_an_error(shop: Shop, text: str, help_: str) -> None:
    write(shop, text)
    with shop.open() as workspace:
        assert not workspace.tools
        assert any(help_ in found.help for found in workspace.registry.diagnostics)


def test_a_sum_needs_a_required_number_that_is_never_negative(shop: Shop) -> None:
    write(shop, "5 of `amount` per user per day")
    path = shop.root / "tools_md/refund.tool.md"
    for old, new in (
        ("- **Minimum**: 0\n", ""),
        ("- **Minimum**: 0\n", "- **Minimum**: -1\n"),
        ("number\n- **Required**: true", "number\n- **Required**: false"),
        ("**Type**: number", "**Type**: number | string"),
    ):
        text = path.read_text().replace(old, new)
        spec, found = parse_tool(text, "refund.tool.md")
        assert spec is None
        assert "field-mismatch" in {one.code for one in found}


def test_a_day_needs_the_time_zone_of_the_project(shop: Shop) -> None:
    write(shop, "3 calls per user per day")
    shop.write("toolmd.toml", "plugins = []\n")
    with shop.open() as workspace:
        assert [one.code for one in workspace.registry.diagnostics] == ["time-zone-missing"]


def test_a_calendar_day_ends_at_midnight_of_the_zone(shop: Shop) -> None:
    write(shop, "2 calls per user per day")
    hours = Hours(shop)
    assert hours.calls(3) == ["ok", "ok", FULL]
    assert hours.call(user="ben") == "ok"
    error = hours.workspace.call_sync("refund", {"order_id": "a", "amount": 1}, user="ana").error
    assert error is not None
    assert error.message == (
        "2 of 2 calls per user per day are used. "
        "The next is possible on 2026-11-30 at 00:00 (Europe/Berlin)."
    )
    assert error.to_dict()["details"] == [
        {"limit": 2, "used": 2, "needs": 1, "per": "2 calls per user per day",
         "resets_at": "2026-11-30T00:00:00+01:00"}
    ]  # fmt: skip
    assert error.retry_after_ms == 3_600_000
    hours.now += timedelta(hours=1)
    assert hours.calls(3) == ["ok", "ok", FULL]


def test_a_rolling_window_forgets_each_start_after_its_length(shop: Shop) -> None:
    write(shop, "2 calls per user in 24h")
    hours = Hours(shop)
    assert hours.call() == "ok"
    hours.now += timedelta(hours=10)
    assert hours.calls(2) == ["ok", FULL]
    assert hours.error is not None
    assert "2026-11-30 at 23:00" in hours.error.message
    hours.now += timedelta(hours=14, seconds=1)
    assert hours.calls(2) == ["ok", FULL]


def test_sums_are_decimal_and_what_does_not_fit_is_denied(shop: Shop) -> None:
    write(shop, "3.3 of `amount` per user per month")
    hours = Hours(shop)
    assert hours.calls(3, amount=1.1) == ["ok"] * 3
    assert hours.call(amount=0.1) == FULL
    assert hours.error is not None
    assert hours.error.message.startswith(
        "3.3 of 3.3 of amount are used this month; this call needs 0.1."
    )
    assert hours.call(user="ben", amount=3.4) == FULL
    assert hours.error.retry_after_ms is None
    assert hours.call(amount=0) == "ok"


def test_keys_conditions_and_ever(shop: Shop) -> None:
    write(
        shop,
        "1 call per `order_id` ever",
        "1 call per tenant and user per year when `amount > 10`",
    )
    hours = Hours(shop)
    who: dict[str, Any] = {"context": {"tenant": "t"}}
    assert hours.call("a", **who) == "ok"
    assert hours.call("a", **who) == FULL
    assert hours.error is not None
    assert hours.error.retry_after_ms is None
    assert hours.call("b", 11, **who) == "ok"
    assert hours.call("c", 11, **who) == FULL
    assert hours.call("c", 11, user="ben", **who) == "ok"  # Nothing of `c` was taken before.
    assert hours.call("d", 9, **who) == "ok"
    assert hours.call("e", 11) == "context_required"
    hours.now += timedelta(days=900)
    assert hours.call("a", **who) == FULL


def test_a_fact_that_is_no_text_and_no_whole_number_is_no_key(shop: Shop) -> None:
    write(shop, "1 call per tenant ever")
    settings = shop.root / "toolmd.toml"
    settings.write_text(settings.read_text().replace('"string"', '"number"'))
    hours = Hours(shop)
    assert hours.call("a", context={"tenant": 1}) == "ok"
    assert hours.call("a", context={"tenant": 1.0}) == FULL
    assert hours.call("a", context={"tenant": 1.5}) == "not_allowed"
    settings.write_text(settings.read_text().replace('"number"', '"list"'))
    assert Hours(shop).call("a", context={"tenant": ["x"]}) == "not_allowed"


def test_a_quota_per_user_needs_a_user(shop: Shop) -> None:
    write(shop, "1 call per user ever")
    assert Hours(shop).call(user=None) == "auth_required"


def test_only_a_call_that_surely_did_nothing_is_given_back(shop: Shop) -> None:
    write(shop, "2 calls per user ever")
    hours = Hours(shop)
    assert hours.calls(3, order_id="refused") == ["tool_error"] * 3
    assert hours.call("broken") == "tool_error"
    assert hours.calls(2) == ["ok", FULL]


def test_a_dry_run_counts_nothing_and_the_same_call_counts_once(shop: Shop) -> None:
    write(shop, "2 calls per user ever")
    hours = Hours(shop)
    assert hours.calls(3, dry_run=True) == ["allowed"] * 3
    assert hours.calls(3, call_id="one") == ["ok"] * 3
    assert hours.calls(2) == ["ok", FULL]
    assert hours.call(dry_run=True) == FULL


def test_nobody_is_asked_about_a_call_that_can_not_start(shop: Shop) -> None:
    write(shop, "1 call per user ever", extra="\n## Safety\n\n- **Requires Confirmation**: true\n")
    hours = Hours(shop)
    decide = hours.workspace.confirmations.approve_sync
    asked = [
        hours.workspace.call_sync("refund", {"order_id": name, "amount": 1}, user="ana")
        for name in ("a", "b")
    ]
    ids = [one.confirmation.id for one in asked if one.confirmation is not None]
    assert decide(ids[0], user="ana").outcome == "ok"
    late = decide(ids[1], user="ana")
    assert late.error is not None
    assert late.error.code == FULL
    assert hours.call() == FULL
    assert len(hours.workspace.confirmations.pending_sync(user="ana")) <= 1


def test_max_calls_is_a_quota_of_the_conversation(shop: Shop) -> None:
    write(shop, "9 calls per user ever", extra="- **Max Calls**: 2\n")
    hours = Hours(shop)
    spec = hours.workspace.tools["refund"].spec
    assert [*map(str, spec.limits.quotas)] == [
        "9 calls per user ever", "2 calls per conversation ever"
    ]  # fmt: skip
    assert hours.calls(3, conversation="c") == ["ok", "ok", FULL]
    assert hours.call(conversation="d") == "ok"


@pytest.mark.parametrize("store", ["memory", "sqlite"])
def test_exactly_the_limit_passes_of_racing_calls(shop: Shop, store: str) -> None:
    write(shop, "10 calls per project per year", "55 of `amount` per project per year")
    hours = Hours(shop, store)
    passed: list[str] = []

    def race() -> None:
        async def all_() -> None:
            calls = (
                hours.workspace.call("refund", {"order_id": "a", "amount": 5.5}, user="ana")
                for _ in range(25)
            )
            passed.extend(one.outcome for one in await asyncio.gather(*calls))

        asyncio.run(all_())

    threads = [threading.Thread(target=race) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert passed.count("ok") == 10
    assert len(passed) == 100


def test_processes_share_the_count(shop: Shop) -> None:
    write(shop, "3 calls per user ever")
    call = ("call", "refund", "order_id=a", "amount=1", "--user", "ana")
    command = (sys.executable, "-m", "toolmd", *call)
    ended = [apart(shop.root, *command, TOOLMD_STORE="sqlite").returncode for _ in range(4)]
    assert ended == [0, 0, 0, 3]


def test_a_larger_quota_waits_for_acceptance(shop: Shop) -> None:
    write(shop, "1 call per user per day")
    with shop.open() as workspace:
        write(shop, "5 calls per user per day")
        workspace.reload()
        assert [*map(str, workspace.tools["refund"].spec.limits.quotas)] == [
            "1 call per user per day"
        ]
        assert "weakened-policy" in {one.code for one in workspace.registry.diagnostics}
        write(shop, "1 call per user per month")
        workspace.reload()
        assert "weakened-policy" not in {one.code for one in workspace.registry.diagnostics}


@pytest.mark.parametrize(
    ("moment", "window", "begins", "ends"),
    [
        ("2026-03-29T12:00", "day", "2026-03-28T23:00", "2026-03-29T22:00"),  # 23 hours
        ("2026-10-25T12:00", "day", "2026-10-24T22:00", "2026-10-25T23:00"),  # 25 hours
        ("2026-10-25T01:30", "hour", "2026-10-25T01:00", "2026-10-25T02:00"),
        ("2028-02-29T12:00", "month", "2028-01-31T23:00", "2028-02-29T23:00"),
        ("2026-12-31T23:30", "year", "2026-12-31T23:00", "2027-12-31T23:00"),
        ("2026-11-29T22:59", "week", "2026-11-22T23:00", "2026-11-29T23:00"),
        ("2026-11-29T23:00", "week", "2026-11-29T23:00", "2026-12-06T23:00"),
        ("2026-11-29T23:00:30", "minute", "2026-11-29T23:00", "2026-11-29T23:01"),
    ],
)
def test_windows_follow_the_calendar_of_the_zone(
    moment: str, window: str, begins: str, ends: str
) -> None:
    from zoneinfo import ZoneInfo

    def at(text: str) -> float:
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()

    found = window_of(Quota(1, ("user",), window), at(moment), ZoneInfo("Europe/Berlin"))
    assert (found.begins, found.ends) == (at(begins), at(ends))


WINDOWS = [("day", None), ("month", None), ("year", None), ("ever", None), ("rolling", 36.0 * 3600)]
SOME = st.builds(
    lambda amount, per, window: Quota(amount, per, window[0], window[1]),
    st.integers(1, 4),
    st.sampled_from([("user",), ("project",), ("user", "project")]),
    st.sampled_from(WINDOWS),
)


def test_as_many_in_a_longer_window_are_as_strict() -> None:
    by = {unit: Quota(3, ("user",), unit) for unit in UNITS}

    assert all(as_strict(by["day"], by[unit]) for unit in ("day", "week", "month", "year"))
    assert not any(as_strict(by["week"], by[unit]) for unit in ("day", "month", "year"))


@given(SOME, SOME, st.lists(st.tuples(st.integers(0, 900), st.sampled_from("ab")), max_size=12))
def test_a_quota_that_counts_as_stricter_allows_no_more(
    old: Quota, new: Quota, calls: list[tuple[int, str]]
) -> None:
    from zoneinfo import ZoneInfo

    zone = ZoneInfo("Europe/Berlin")

    def allowed(quota: Quota, starts: list[tuple[float, str]]) -> bool:
        """Return whether these starts all fit a quota."""
        for number, (at, user) in enumerate(starts):
            window = window_of(quota, at, zone)
            key = user if "user" in quota.per else ""
            before = [
                one for one, whose in starts[:number]
                if (whose if "user" in quota.per else "") == key
                and (one > window.begins if quota.seconds else one >= window.begins)
            ]  # fmt: skip
            if len(before) + 1 > quota.amount:
                return False
        return True

    starts = sorted((1.79e9 + hours * 3600.0, user) for hours, user in calls)
    if as_strict(old, new) and allowed(new, starts):
        assert allowed(old, starts)
