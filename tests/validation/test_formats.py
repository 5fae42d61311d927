"""Formats: real days and times, addresses as they are written."""

import pytest

from toolmd._types.schema import Schema
from toolmd._validation import pattern_fault, problems

CASES = {
    "date": (
        ["2026-03-05", "2024-02-29", "0001-01-01"],
        ["2026-02-29", "2026-13-01", "20260305", "2026-W10-4", "2026-3-5", "05.03.2026",
         "2026-03-05T00:00", "\uff12026-03-05", "2026-03-05\n", "0000-01-01", ""],
    ),
    "time": (
        ["09:00", "23:59:59", "09:00:00.123456789", "09:00Z", "09:00+05:30", "09:00:00z"],
        ["24:00", "9:00", "09:60", "0900", "09:00:60", "09:00+25:00", "09:00+5", "09", "T09:00",
         "9am", "09:00 ", ""],
    ),
    "date-time": (
        ["2024-01-20T10:00:00Z", "2026-03-05t09:00", "2026-03-05T09:00:00+01:00"],
        ["2024-01-20", "2024-01-20 10:00", "2024-02-30T10:00:00Z", "2024-01-20T25:00", "T10:00"],
    ),
    "email": (
        ["a@b.co", "first.last+tag@sub.example.org", "jörg@müller.de"],
        ["a", "a@b", "@b.co", "a@", "a@@b.co", "a b@c.de", ".a@b.co", "a@b..co", "a@-b.co"],
    ),
    "uri": (
        ["https://example.org/a?b=c#d", "urn:isbn:123", "mailto:a@b.co", "http://[::1]/"],
        ["example.org", "/a", "http://", "http:///a", "https://a b", "http:a", "ht tp://a", ":a"],
    ),
    "uuid": (
        ["123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000"],
        ["123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400g", "{}"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_format_accepts_only_real_values(name: str) -> None:
    shape = Schema(types=("string",), format=name)
    good, bad = CASES[name]
    assert [text for text in good if problems(text, shape)] == []
    assert [text for text in bad if not problems(text, shape)] == []
    assert problems(bad[0], shape)[0].code == "invalid_format"


def test_a_format_of_another_name_is_an_annotation() -> None:
    assert problems("anything", Schema(types=("string",), format="phone")) == ()


def test_a_pattern_outside_re2_is_reported() -> None:
    assert pattern_fault("[a-z]+") is None
    for pattern in ("(a", "a(?=b)", r"(a)\1"):
        fault = pattern_fault(pattern)
        assert fault is not None
        assert "RE2" in fault
        assert problems("a", Schema(types=("string",), pattern=pattern))[0].code == (
            "invalid_pattern"
        )
