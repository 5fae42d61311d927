"""Catalogues as people write them: other lists, tables, signatures and code, read alike."""

import pytest
from read_catalogs import arguments, tools

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
