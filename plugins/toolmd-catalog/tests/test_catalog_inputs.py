"""The parameters of a tool as READMEs show them: labels, signatures, objects and calls in code."""

import pytest
from read_catalogs import arguments, read, tools

POND = {"pond": (True, "string"), "litres": (False, "number")}
SHOWN = {
    "a label in a bullet": """
- **fill_pond**
  - Fill a pond
  - Inputs:
    - `pond` (string): Which
    - `litres` (number, optional): How much
  - Takes an hour
""",
    "required and optional": """
### fill_pond

Fill a pond.

- Required: `pond` (string) - Which
- Optional:
  - `litres` (number) - How much
""",
    "a label with words": """
### fill_pond

Fill a pond.

**Required pond parameters:**
- `pond` (string): Which

**Optional request fields:**
- `litres` (number): How much
""",
    "a typed call": """
### fill\\_pond

Fill a pond.

```typescript
{
  name: 'fill_pond',
  arguments: {
    pond: string,     // The pond's name
    litres?: number   // How much (default: all)
  }
}
```
""",
    "a typed object": """
- **fill_pond** - Fill a pond
  ```typescript
  {
    pond: string,     // Which
    litres?: number   // How much
  }
  ```
""",
    "a signature without a body": """
### Filling

```python
async def fill_pond(pond: str, litres: float = 1.5) -> str
```

Fill a pond.
""",
}


@pytest.mark.parametrize("form", SHOWN)
def test_parameters_are_read_from_each_form(form: str) -> None:
    (spec,) = tools(f"# Pond server\n\n## Tools\n{SHOWN[form]}").values()
    found = {name: (need, shape["type"]) for name, (need, shape) in arguments(spec).items()}

    assert (spec.name, found) == ("fill_pond", POND)


def test_a_block_of_signatures_is_a_list_of_tools() -> None:
    found = tools("""
## API Reference

```python
# Ponds
fill_pond(pond, litres=1.5, note=None)
drain_pond(pond, slow=False,
           pump_index=0)
```
""")

    assert {name: list(arguments(spec)) for name, spec in found.items()} == {
        "fill_pond": ["pond", "litres", "note"],
        "drain_pond": ["pond", "slow", "pump_index"],
    }
    assert arguments(found["fill_pond"])["note"] == (False, {"type": "string"})


CODE = [
    'fill_pond("north", 3)',
    'pond = open_pond("north")\nfill_pond(pond)',
    "fill_pond(litres=3)",
]


@pytest.mark.parametrize("code", CODE)
def test_a_call_in_code_is_not_a_tool(code: str) -> None:
    text = f"## Tools\n\n- `drain_pond` - Drain it\n\n```python\n{code}\n```\n"

    assert list(tools(text)) == ["drain_pond"]


def test_a_lone_input_holds_the_fields_below_it() -> None:
    (spec,) = tools("""
## Tools

- **fill_ponds**
  - Fill several ponds
  - Input: `ponds` (array of objects)
    - Each object contains:
      - `name` (string): Which
      - `litres` (number, optional): How much
  - Skips full ponds
""").values()
    (need, shape) = arguments(spec)["ponds"]

    assert need
    assert list(shape["items"]["properties"]) == ["name", "litres"]
    assert list(arguments(spec)) == ["ponds"]


def test_an_object_below_input_shows_the_parameters() -> None:
    (spec,) = tools("""
## Tools

### fill_pond

**Input:**
```json
{"pond": "north", "litres": 10}
```

**Output:**
```json
{"full": true}
```
""").values()

    assert list(arguments(spec)) == ["pond", "litres"]


def test_a_parameter_may_be_called_as_a_label_is() -> None:
    (spec,) = tools("""
## Tools

- **find_pond** - Find a pond
  - `fields`: What to return (string[], optional)
  - `inputs`: What flows in (object, optional)
  - `name`: Its name (string, required)
""").values()

    assert list(arguments(spec)) == ["fields", "inputs", "name"]


def test_at_least_one_parameter_is_a_rule() -> None:
    (spec,) = tools("""
## Tools

### find_pond

Find a pond.

**Parameters** (at least one required):
- `name`: Its name
- `depth`: How deep
""").values()

    assert [need for need, _ in arguments(spec).values()] == [False, False]
    assert [rule.expression for rule in spec.rules] == ["has(name) || has(depth)"]


def test_of_two_descriptions_the_one_with_parameters_is_read() -> None:
    (spec,) = tools("""
## Tools

- **fill_pond**
  - Inputs:
    - `pond` (string)

## Tool hints

| Tool | Reads | Season | Writes | Notes |
|---|---|---|---|---|
| `fill_pond` | no | any | yes | Slow |
""").values()

    assert list(arguments(spec)) == ["pond"]


def test_each_section_without_a_tool_is_noted_with_its_lines() -> None:
    made = read("""# Pond server

## Tools

- `fill_pond` - Fill it

## Weather

Swans dislike thunder.

Nobody must swim here.
""")

    limit = "read what it restricts: 11"
    assert f"'Weather', lines 9\N{EN DASH}11, describes no tool: not imported; {limit}" in [
        note.text for note in made.notes
    ]


BY_METHOD = """# Ponds

## Tools

### edit_ponds

Edit many ponds.

Parameters:

- ponds: Array of pond IDs
- method (string): What to do
- {label}:
  - depth: Number for dig
  - drained: Boolean for drain
  - is_new_row: for fill
"""


@pytest.mark.parametrize(
    "label", ["Additional parameters based on method", "Further arguments", "Optional parameters"]
)
def test_parameters_below_a_label_within_the_list_are_optional(label: str) -> None:
    found = tools(BY_METHOD.format(label=label))["edit_ponds"].parameters

    assert [(one.name, one.required) for one in found] == [
        ("ponds", True), ("method", True), ("depth", False), ("drained", False),
        ("is_new_row", False),
    ]  # fmt: skip
    assert [one.shape.types[0] for one in found[2:]] == ["number", "boolean", "boolean"]


def test_required_parameters_below_a_label_are_required() -> None:
    found = tools(BY_METHOD.format(label="Required parameters"))["edit_ponds"].parameters

    assert {one.name: one.required for one in found}["depth"] is True
