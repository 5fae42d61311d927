"""Dates as vague as they are, as instants."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolmd import ToolError
from toolmd_simplescribe.moments import moment, span_of

DAY_US = 86_400_000_000


@pytest.mark.parametrize(
    ("text", "at", "length"),
    [
        ("1970", 0, 365 * DAY_US),
        ("1972", 730 * DAY_US, 366 * DAY_US),
        ("1970-02", 31 * DAY_US, 28 * DAY_US),
        ("1970-01-02", DAY_US, DAY_US),
        ("1970-01-01T01:00", 3_600_000_000, 60_000_000),
        ("1970-01-01T00:00:01Z", 1_000_000, 1_000_000),
        ("1970-01-01T00:00:00.5Z", 500_000, 100_000),
        ("1970-01-01T00:00:00.123456789Z", 123_456, 1),
        ("1970-01-01T02:00:00+02:00", 0, 1_000_000),
        ("1969-12-31T19:00:00-05:00", 0, 1_000_000),
        ("9999-12", 2_932_866 * DAY_US, 31 * DAY_US),
    ],
)
def test_a_date_begins_and_ends(text, at, length):
    read = moment(text)
    assert (read.at, read.end - read.at) == (at, length)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "24",
        "0000",
        "2024-00",
        "2024-13",
        "2023-02-29",
        "2024-04-31",
        "2024-1-1",
        "2024-01-01T",
        "2024-01-01T24:00:00Z",
        "2024-01-01T00:60:00Z",
        "2024-01-01T00:00:61Z",
        "2024-01-01T00:00:00+14:01",
        "2024-01-01T00:00:00+02:60",
        "2024-01-01 00:00:00Z",
        "2024-01-01T00:00:00Z ",
        "2024-01-01\n",
        "²024-01-01",
        "20240101",
        "-2024",
    ],
)
def test_an_invalid_date_is_an_error(text):
    with pytest.raises(ValueError, match=r"."):
        moment(text)


@given(st.datetimes(), st.integers(-14 * 60, 14 * 60))
def test_the_same_instant_is_the_same_in_every_zone(when, minutes):
    sign = "-" if minutes < 0 else "+"
    zone = f"{sign}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    text = when.isoformat(timespec="microseconds")
    assert moment(f"{text}{zone}").at == moment(f"{text}Z").at - minutes * 60_000_000


@given(st.text())
def test_any_invalid_text_is_an_ordinary_error(text):
    try:
        read = moment(text)
    except ValueError:
        return
    assert read.at < read.end


@pytest.mark.parametrize(
    ("start", "end"), [("2024-02-30", "2024-03-01"), ("2024-03-01", "2024-02-01"), ("x", "y")]
)
def test_an_empty_range_is_an_error(start, end):
    with pytest.raises(ToolError) as refused:
        span_of({"start": start, "end": end})
    assert refused.value.code == "invalid_arguments"
