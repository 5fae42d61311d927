"""Phrases and sentences of a catalogue that become fields, guards and limits, or stay words."""

from dataclasses import asdict

import pytest
from read_catalogs import arguments, read, tools

PHRASES = {
    "name: max 200 characters": {"type": "string", "maxLength": 200},
    "name: string, 8-64 characters": {"type": "string", "minLength": 8, "maxLength": 64},
    "name: number, at least 0.5": {"type": "number", "minimum": 0.5},
    "name: integer > 0": {"type": "integer", "minimum": 1},
    "name: positive integer": {"type": "integer", "minimum": 1},
    "name: 1-10,000 ml": {"type": "integer", "minimum": 1, "maximum": 10000, "x-unit": "ml"},
    "name: list of strings, max 5 items": {
        "type": "array",
        "items": {"type": "string"},
        "maxItems": 5,
    },
    "name: array of 0-6": {
        "type": "array",
        "items": {"type": "integer", "minimum": 0, "maximum": 6},
    },
    "name: one of 'a', 'b' (default), 'c'": {
        "type": "string",
        "enum": ["a", "b", "c"],
        "default": "b",
    },
    "name: one of 'a', 'b', 'c' as the guest says": {
        "type": "string",
        "description": "As the guest says",
        "enum": ["a", "b", "c"],
    },
    "name: one of 'a', 'b', 'c'\n  Never guess.": {
        "type": "string",
        "description": "Never guess",
        "enum": ["a", "b", "c"],
    },
    "name: one of a, b, c. Never guess": {
        "type": "string",
        "description": "Never guess",
        "enum": ["a", "b", "c"],
    },
    "name: one of `a`, `b`, or `c` when known": {
        "type": "string",
        "description": "When known",
        "enum": ["a", "b", "c"],
    },
    "name: number[], 0-6": {
        "type": "array",
        "items": {"type": "number", "minimum": 0, "maximum": 6},
    },
    "name: string (email)": {"type": "string", "format": "email"},
    "name: ISO 8601 datetime": {
        "type": "string",
        "description": "ISO 8601 datetime",
        "format": "date-time",
    },
    "name: dict[str, int]": {"type": "object", "additionalProperties": {"type": "integer"}},
    "name: string or null": {"type": ["string", "null"]},
    "name: { x: number, y?: number }": {
        "type": "object",
        "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
        "required": ["x"],
        "additionalProperties": False,
    },
    "name: string, pattern `[A-Z]{3}`": {"type": "string", "pattern": "[A-Z]{3}"},
    "name: boolean (default: false)": {"type": "boolean", "default": False},
}


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_becomes_a_field(phrase: str) -> None:
    (spec,) = tools(f"## do_it\n\nDo it.\n\nParams:\n- {phrase}\n").values()

    assert arguments(spec)["name"][1] == PHRASES[phrase]


LOOK_ALIKES = {
    "name: string - either the name or the id": "Either the name or the id",
    "name: string (morning, afternoon, evening)": "Morning, afternoon, evening",
    "name: string - the number of results": "The number of results",
    "name: string - 5 business days or more": "5 business days or more",
    "name: string (e.g. red or blue)": "E.g. red or blue",
}


@pytest.mark.parametrize("phrase", LOOK_ALIKES)
def test_words_that_restrict_nothing_stay_words(phrase: str) -> None:
    (spec,) = tools(f"## do_it\n\nDo it.\n\nParams:\n- {phrase}\n").values()
    schema = arguments(spec)["name"][1]

    assert {**schema, "description": schema["description"].lower()} == {
        "type": "string",
        "description": LOOK_ALIKES[phrase].lower(),
    }


SENTENCES = {
    "Requires confidence >= 80%": {"min_confidence": 0.8},
    "Minimum confidence: 0.65": {"min_confidence": 0.65},
    "ALWAYS confirm with the user first": {"requires_confirmation": True},
    "No confirmation needed": {"requires_confirmation": False},
    "Sensitivity: High": {"sensitivity": "high"},
    "Requires confirmation if the moon is full": {"requires_confirmation": True},
    "Ask for confirmation when amount > 100": {"confirm_when": "amount > 100"},
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_becomes_a_guard(sentence: str) -> None:
    text = f"## pay\n\nPay it.\n\nParams:\n- amount: integer\n\nSafety:\n- {sentence}\n"
    (spec,) = tools(text).values()
    said = {k: v for k, v in asdict(spec.safety).items() if v not in (None, ())}

    assert said == SENTENCES[sentence]


COSTS = {
    "Rate limit: 100 requests per minute": {"rate": {"calls": 100, "per_s": 60.0}},
    "Throttled to 5 QPS": {"rate": {"calls": 5, "per_s": 1.0}},
    "Timeout: 30 seconds": {"timeout_s": 30.0},
    "Retries: 3 times, back-off 500ms": {"retries": 3, "backoff_s": 0.5},
    "At most 64 KB and max 500 rows": {"max_rows": 500, "max_bytes": 65536},
    "Max 3 calls per conversation": {"max_calls": 3},
    "Allowed domains: `a.example.org`, `*.b.example.org`": {
        "allowed_domains": ("a.example.org", "*.b.example.org")
    },
    "Max 50 texts per call; more are split": {"max_batch": {"parameter": "texts", "size": 50}},
    "About 1.5 s per 40 texts": {},
}


@pytest.mark.parametrize("sentence", COSTS)
def test_a_sentence_becomes_a_limit(sentence: str) -> None:
    text = f"## embed\n\nEmbed it.\n\nParams:\n- texts: string[]\n\nLimits:\n- {sentence}\n"
    (spec,) = tools(text).values()
    said = {k: v for k, v in asdict(spec.limits).items() if v not in (None, ())}

    assert said == COSTS[sentence]


def test_two_places_that_differ_leave_the_stricter_and_a_note() -> None:
    text = """## pay

Pay it.

Params:
- amount: integer

Safety:
- Requires confidence ≥ 0.9
- No confirmation needed

## Summary

| Tool | Requires Confirmation | Min Confidence |
|---|---|---|
| pay | Yes | 0.7 |
"""
    (spec,) = tools(text).values()

    assert spec.safety.min_confidence == 0.9
    assert spec.safety.requires_confirmation
    told = [note.text for note in read(text).notes]
    assert "min confidence is 0.9 in one place and 0.7 in another: 0.9" in told


def test_a_general_limit_applies_to_each_tool_and_an_unassigned_one_is_noted() -> None:
    text = """# Desk

Rate limit for everything: 5/s. Care logs always require confirmation.

| Tool | What | Confirmation |
|---|---|---|
| pay_bill | Pay a bill | Yes |
| look_up | Look it up | No |

## pay_bill

Params:
- amount: integer

## look_up

Params:
- word: string
"""
    found = tools(text)

    assert [spec.description for spec in found.values()] == ["Pay a bill", "Look it up"]
    assert all(spec.limits.rate is not None for spec in found.values())
    told = [(note.line, note.text) for note in read(text).notes]
    words = "'Care logs always require confirmation.'"
    assert (3, f"it names no tool, so it restricts none here: {words}") in told
