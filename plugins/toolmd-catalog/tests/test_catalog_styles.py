"""Catalogues as people write them: other lists, tables, signatures and code, read alike."""

import json
from dataclasses import asdict
from typing import Any

import pytest

from toolmd import ToolSpec, parse_tool
from toolmd.importing import Imported
from toolmd_catalog.reader import read as read_catalog


def read(text: str) -> Imported:
    return read_catalog(text, "tools.md")


def tools(text: str) -> dict[str, ToolSpec]:
    made = {}
    for draft in read(text).drafts:
        spec, found = parse_tool(draft.text, f"{draft.name.replace('_', '-')}.tool.md")
        assert spec is not None, found
        made[spec.name] = spec
    return made


def arguments(spec: ToolSpec) -> dict[str, tuple[bool, dict[str, Any]]]:
    return {p.name: (p.required, p.shape.json_schema) for p in spec.parameters}


WEATHER = {
    "city": (True, {"type": "string"}),
    "units": (
        False,
        {"type": "string", "enum": ["metric", "imperial"], "default": "metric"},
    ),
    "days": (False, {"type": "integer", "minimum": 1, "maximum": 14, "default": 3}),
}
STYLES = {
    "a signature with types and defaults": """
### get_weather(city: string, units?: "metric" | "imperial" = "metric", days?: int = 3)

Get the weather.

- days: 1-14
""",
    "bullets in the parser's own manner": """
## get_weather

Get the weather.

**Parameters:**

- `city` (string, required)
- `units` (string, optional, one of: metric, imperial, default metric)
- `days` (integer, optional, 1-14, default 3)
""",
    "a table whose cells hold the bar that parts cells": """
## get_weather

Get the weather.

| Parameter | Type | Required | Default | Constraints |
|---|---|---|---|---|
| `city` | string | yes | | |
| units | "metric" | "imperial" | no | metric | |
| days | int | no | 3 | between 1 and 14 |
""",
    "labels and phrases": """
## 1. get_weather

**Purpose**: Get the weather.

**Validation Rules**:
- City: string (required)
- Units: enum ['metric', 'imperial'], default metric (optional)
- Days: 1-14, defaults to 3 (optional)
""",
    "headings below headings": """
## get_weather

Get the weather.

### Parameters

#### city

- Type: string
- Required: yes

#### units

- Type: string
- Enum: metric, imperial
- Default: metric

#### days

- Type: integer
- Minimum: 1
- Maximum: 14
- Default: 3
""",
    "a table of aspects, an object in a cell": """
### 2.1 `get_weather`

| Aspect | Details |
|---|---|
| Purpose | Get the weather. |
| Args | `{ "city": str, "units": "metric" | "imperial" = "metric", "days": int=3 }` |
| Notes | None. |

Validation rules:
- days: 1–14
""",
    "TypeScript": """
## get_weather

Get the weather.

Input:

```typescript
interface Input {
  city: string;
  units?: "metric" | "imperial" = "metric";
  days?: int = 3;
}
```

Parameters:
- days: 1..14
""",
    "a schema in code": """
## get_weather

```json
{"type": "function", "function": {"name": "get_weather", "description": "Get the weather.",
 "parameters": {"type": "object", "required": ["city"], "properties": {
  "city": {"type": "string"},
  "units": {"type": "string", "enum": ["metric", "imperial"], "default": "metric"},
  "days": {"type": "integer", "minimum": 1, "maximum": 14, "default": 3}}}}}
```
""",
    "a bold line": """
Our tools:

**get_weather** – Get the weather.
Params:
- city: string
- units?: "metric" | "imperial" (default "metric")
- days?: integer (1 to 14, default 3)
""",
    "a bullet": """
# Tools

- **get_weather**: Get the weather.
  - `city`: string, required
  - `units`: "metric" or "imperial", optional, default "metric"
  - `days`: integer, optional, min 1, max 14, default 3
""",
}


@pytest.mark.parametrize("style", STYLES)
def test_one_tool_is_read_alike_in_every_style(style: str) -> None:
    (spec,) = tools(STYLES[style]).values()

    assert (spec.name, spec.description) == ("get_weather", "Get the weather.")
    assert arguments(spec) == WEATHER


def test_a_list_of_signatures_is_a_list_of_tools() -> None:
    found = tools("""
# Tickets

- **create_ticket**(title: string, tags?: string[]): Creates a ticket. Requires confirmation.
- **close_ticket**(id: integer) - Closes a ticket.
- **list_tickets**() - Lists the tickets (read-only).
""")

    assert list(found) == ["create_ticket", "close_ticket", "list_tickets"]
    assert found["create_ticket"].safety.requires_confirmation
    assert arguments(found["close_ticket"]) == {"id": (True, {"type": "integer"})}
    assert found["list_tickets"].read_only


def test_a_table_with_a_row_for_each_tool() -> None:
    found = tools("""
| Tool | Description | Parameters |
|---|---|---|
| `get_time` | Current time | None |
| `convert` | Convert units | `value: number`, `unit: string`, `digits?: integer = 2` |
""")

    assert arguments(found["get_time"]) == {}
    assert arguments(found["convert"])["digits"] == (False, {"type": "integer", "default": 2})


def test_functions_in_code_alone() -> None:
    found = tools('''
# Our tools

```python
def get_price(ticker: str, currency: str = "USD", days: int | None = None) -> float:
    """Get the price of a stock."""
```
''')

    assert found["get_price"].description == "Get the price of a stock."
    assert arguments(found["get_price"]) == {
        "ticker": (True, {"type": "string"}),
        "currency": (False, {"type": "string", "default": "USD"}),
        "days": (False, {"type": ["integer", "null"]}),
    }


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


def test_a_limit_of_everything_is_each_tools_and_one_of_nobody_is_told() -> None:
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


def test_plain_words_below_one_title_are_each_a_tool() -> None:
    text = "# Desk\n\n## pay\n\nParams:\n- amount: integer\n\n## look\n\nParams:\n- word: string\n"

    assert {name: list(arguments(spec)) for name, spec in tools(text).items()} == {
        "pay": ["amount"],
        "look": ["word"],
    }


def test_shared_parameters_go_where_the_text_puts_them() -> None:
    listed = """
Global parameters (where applicable):
- limit: integer, 1-100 (optional)

## find

Find it.

Params:
- query: string
- limit?: number

## drop

Drop it.

Params:
- id: string
"""
    found = tools(listed)
    everywhere = tools(listed.replace("where applicable", "all tools"))

    assert arguments(found["find"])["limit"][1] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 100,
    }
    assert "limit" not in arguments(found["drop"])
    assert "limit" in arguments(everywhere["drop"])


def test_a_choice_between_parameters_is_a_rule() -> None:
    (spec,) = tools("""
## look_up

Look someone up.

Params:
- email?: string
- phone?: string
- At least one of email or phone is required.
""").values()

    assert [rule.expression for rule in spec.rules] == ["has(email) || has(phone)"]


def test_an_objects_fields_stand_below_it() -> None:
    (spec,) = tools("""
## go

Go there.

Parameters:
- `origin` (object, required): Where from
  - `lat` (number, required, -90 to 90)
  - `name` (string, optional)
""").values()
    origin = arguments(spec)["origin"][1]

    assert origin["properties"]["lat"] == {"type": "number", "minimum": -90, "maximum": 90}
    assert origin["required"] == ["lat"]


NO_CATALOGUES = {
    "nothing": "",
    "prose": "# A letter\n\nDear reader,\n\n- one: two\n- three: four\n",
    "a changelog": "# Changelog\n\n## 1.2.0\n\n- Added: a thing\n\n## 1.1.0\n\n- Fixed: b\n",
    "a tutorial": "# Guide\n\n```python\ndef main():\n    run()\n```\n",
    "only hidden tools": "## `drop_all` (internal)\n\nParams:\n- id: string\n",
}


@pytest.mark.parametrize("name", NO_CATALOGUES)
def test_what_is_no_catalogue_gives_nothing_and_says_so(name: str) -> None:
    made = read(NO_CATALOGUES[name])

    assert made.drafts == ()
    assert made.refused[0].text.startswith("no tool was found")


def test_an_invalid_example_is_left_out_and_told() -> None:
    text = (
        "## pay\n\nPay it.\n\nParams:\n- amount: integer, 1-5\n\nExample:\n```json\n"
        + json.dumps({"tool": "pay", "args": {"amount": 9}})
        + "\n```\n"
    )
    made = read(text)

    assert "9" not in made.drafts[0].text
    assert any("an example is not what the tool takes" in note.text for note in made.notes)


def test_a_response_under_example_invents_no_parameter() -> None:
    (spec,) = tools("""## pay

Pay it.

Params:
- amount: integer

Example:

```json
{"amount": 3}
```

```json
{"success": true, "receipt": "r-1"}
```
""").values()

    assert list(arguments(spec)) == ["amount"]
    assert [example.arguments for example in spec.examples] == [{"amount": 3}]
