"""Parameters that only example calls name, anywhere on the page of a server."""

import pytest
from read_catalogs import arguments, read, tools

PAGE = """# Pond server

## Tools

- `fill_pond` - Fill a pond
- `drain_pond` - Drain it

## Examples

```{info}
{code}
```
"""
SHOWN = {
    "keywords": ("python", 'fill_pond(pond="north", litres=2.5)'),
    "keywords of a method": ("python", 'await ponds.fill_pond(\n  pond="north",\n  litres=2.5,\n)'),
    "a name and a dictionary": (
        "python",
        'x = await client.call_tool("fill_pond", {"pond": "north", "litres": 2.5})',
    ),
    "named arguments with a remark": (
        "python",
        (
            'done = use_tool(\n    server="ponds",\n    tool_name="fill_pond",\n    arguments={\n'
            '        "pond": "north",  # the pond\'s name\n        "litres": 2.5,\n    },\n)'
        ),
    ),
    "an object of JavaScript": (
        "js",
        "await callTool('fill_pond', { pond: 'north', litres: 2.5 })",
    ),
    "a request": ("json", '{"tool": "fill_pond", "arguments": {"pond": "north", "litres": 2.5}}'),
    "a request of the protocol": (
        "json",
        (
            '{"method": "tools/call", "params": {"name": "fill_pond",'
            ' "arguments": {"pond": "north", "litres": 2.5}}}'
        ),
    ),
}


def page(code: str, info: str = "python") -> str:
    return PAGE.replace("{info}", info).replace("{code}", code)


@pytest.mark.parametrize("form", SHOWN)
def test_example_calls_name_optional_parameters(form: str) -> None:
    info, code = SHOWN[form]
    found = tools(page(code, info))

    assert arguments(found["fill_pond"]) == {
        "pond": (False, {"type": "string"}),
        "litres": (False, {"type": "number"}),
    }
    assert arguments(found["drain_pond"]) == {}


def test_what_only_an_example_names_is_noted_as_a_guess() -> None:
    made = read(page('fill_pond(pond="north")'))

    assert ("pond", "only an example has it: optional", 11) in [
        (note.path, note.text, note.line) for note in made.notes
    ]


def test_several_examples_of_one_tool_are_joined() -> None:
    found = tools(
        page("fill_pond(litres=2)\nfill_pond(litres=2.5, pump=[1])\nfill_pond(pump=None)")
    )

    shapes = {name: shape["type"] for name, (_, shape) in arguments(found["fill_pond"]).items()}
    assert shapes == {"litres": "number", "pump": "array"}


def test_a_value_that_is_no_literal_gives_its_name_alone() -> None:
    made = read(page("fill_pond(litres=left_over(1), plan={'deep': plan} or 3)"))

    noted = {note.path: note.text for note in made.notes if "no type" in note.text}
    assert noted == {
        "litres": "no type in the text: string, from nothing else",
        "plan": "no type in the text: string, from nothing else",
    }


NO_CALLS = [
    'fill_pond("north", 3)',
    'fill_pond("north", litres=3)',
    'refill_pond(pond="north")',
    'send("other_tool", {"pond": "north"})',
    'fill_pond(pond="north',
    'def fill_pond(pond="north"): return {"full": True}',
]


@pytest.mark.parametrize("code", NO_CALLS)
def test_code_that_is_no_call_with_names_adds_no_parameter(code: str) -> None:
    found = tools(page(code))

    assert [arguments(spec) for spec in found.values()] == [{}, {}]


@pytest.mark.parametrize("piece", ["fill_pond(", '"fill_pond", {', "fill_pond(litres=[["])
def test_many_calls_that_never_close_name_nothing(piece: str) -> None:
    found = tools(page(piece * 10_000))

    assert [arguments(spec) for spec in found.values()] == [{}, {}]


LISTED = """## Tools

### fill_pond

Fill a pond.

Parameters:
- `pond`: Which
- `litres`: How much

## Examples

```python
fill_pond(pond=3, litres=2.5, frogs="green")
```
"""


def test_examples_give_types_to_listed_parameters_and_add_none() -> None:
    made = read(LISTED)
    (spec,) = tools(LISTED).values()

    shapes = {name: shape["type"] for name, (_, shape) in arguments(spec).items()}
    assert shapes == {"pond": "integer", "litres": "number"}
    left = "in an example, though the text lists the parameters without it: left out"
    assert [(n.text, n.line) for n in made.notes if n.path == "frogs"] == [(left, 14)]


def test_a_tool_without_parameters_gets_none_from_an_example() -> None:
    text = LISTED.replace("- `pond`: Which\n- `litres`: How much", "None")
    (spec,) = tools(text).values()

    assert arguments(spec) == {}


LABELLED = """## Tools

- `fill_pond` - Fill a pond
- `find_pond` - Find one

**Example `fill_pond` input:**
```json
{"pond": "north"}
```

**Example `fill_pond` output:**
```json
{"full": true}
```
"""


def test_an_object_below_a_label_with_the_tools_name_and_input_is_its_example() -> None:
    found = tools(LABELLED)

    assert arguments(found["fill_pond"]) == {"pond": (True, {"type": "string"})}
    assert arguments(found["find_pond"]) == {}


def test_options_and_later_arguments_of_a_lone_example_are_optional() -> None:
    given = '{"pond": "north", "limit": 3}'
    many = '{"pond": "north", "fish": ["eel"], "mood": "calm"}'
    switch = '{"pond": "north", "deep": true}'
    needs = [
        {k: need for k, (need, _) in arguments(tools(page)["fill_pond"]).items()}
        for page in (LABELLED.replace('{"pond": "north"}', text) for text in (given, many, switch))
    ]

    assert needs == [
        {"pond": True, "limit": False},
        {"pond": True, "fish": True, "mood": False},
        {"pond": True, "deep": False},
    ]
