"""The effect of each key of a step at run time."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from run_world import NO, YES, World, play_steps

from toolmd.errors import ToolError

# Values


def test_text_is_read_by_the_type_that_the_parameter_has(world: World) -> None:
    steps = "1. **Echo**\n   - **Use**: echo\n   - **With**:\n     - count: 20\n     - tags: a, b\n"
    assert play_steps(world, steps).success
    assert world.calls == [("echo", {"count": 20, "tags": ["a", "b"]})]


def test_an_expression_keeps_its_type_and_braces_make_text(world: World) -> None:
    steps = (
        "1. **List**\n   - **Use**: list\n   - **Save as**: names\n"
        "2. **Echo**\n   - **Use**: echo\n   - **With**:\n     - count: `size(names)`\n"
        "     - text: {names} are {size(names)}, {1.0 + 1.5}, {double(3)}, {size(names) > 2}\n"
        "     - tags:\n       - first\n       - `names[2]`\n"
    )
    assert play_steps(world, steps).success
    assert world.calls[1][1] == {
        "count": 3,
        "text": "a, b, c are 3, 2.5, 3, yes",
        "tags": ["first", "c"],
    }


def test_a_whole_double_is_accepted_as_an_integer(world: World) -> None:
    steps = (
        "1. **Echo**\n   - **Use**: echo\n   - **With**:\n"
        "     - count: `math.round(double(2) / 1.0)`\n"
    )
    assert play_steps(world, steps).success
    assert world.calls == [("echo", {"count": 2})]


def test_an_optional_input_that_is_not_given_leaves_its_argument_out(world: World) -> None:
    steps = "1. **Echo**\n   - **Use**: echo\n   - **With**:\n     - text: `word`\n"
    assert play_steps(world, steps).success
    assert play_steps(world, steps, {"word": "hi"}).success
    assert [arguments for _, arguments in world.calls] == [{}, {"text": "hi"}]


def test_return_sets_data_of_any_shape_and_a_message(world: World) -> None:
    steps = (
        "1. **List**\n   - **Use**: list\n   - **Save as**: names\n"
        "2. **Return**: Found {size(names)}.\n   - first: `names[0]`\n   - all: `names`\n"
        "   - text: {names}\n   - more:\n     - a: 1\n     - b: `size(names)`\n"
    )
    result = play_steps(world, steps)
    assert result.message == "Found 3."
    assert result.data == {
        "first": "a",
        "all": ["a", "b", "c"],
        "text": "a, b, c",
        "more": {"a": "1", "b": 3},
    }


def test_a_list_that_ends_without_return_is_a_success_without_data(world: World) -> None:
    result = play_steps(world, "1. **List**\n   - **Use**: list\n")
    assert (result.success, result.data, result.message) == (True, {}, "Trial: done.")


def test_inputs_are_checked_against_the_input_schema(world: World) -> None:
    result = play_steps(world, "1. **List**\n   - **Use**: list\n", {"word": 3, "other": 1})
    assert result.code == "invalid_arguments"
    assert "word must be" in (result.error or "")
    assert "other" in (result.error or "")
    assert world.calls == []


# Conditions and ways


def test_a_step_whose_when_is_false_is_skipped(world: World) -> None:
    steps = (
        "1. **List**\n   - **When**: `has(word)`\n   - **Use**: list\n   - **Save as**: names\n"
        "2. **Return**\n   - **Return**:\n     - known: `has(names)`\n"
    )
    assert play_steps(world, steps).data == {"known": False}
    assert play_steps(world, steps, {"word": "x"}).data == {"known": True}


def test_an_empty_result_jumps_to_the_steps_target(world: World) -> None:
    steps = (
        "1. **List**\n   - **Use**: list\n   - **Save as**: names\n   - **If empty**: go to None\n"
        "2. **Return**:\n   - n: `size(names)`\n\n### None\n\n"
        "1. **Stop**: Nothing, not {size(names)}.\n"
    )
    assert play_steps(world, steps).data == {"n": 3}
    world.functions["list"] = list
    result = play_steps(world, steps)
    assert (result.message, result.code) == ("Nothing, not 0.", "stopped")


@pytest.mark.parametrize("empty", [None, [], {}, ""])
def test_null_and_empty_containers_are_empty(world: World, empty: Any) -> None:
    world.functions["echo"] = lambda: empty
    steps = '1. **Echo**\n   - **Use**: echo\n   - **If empty**: stop "Empty."\n'
    assert play_steps(world, steps).message == "Empty."


@pytest.mark.parametrize("full", [0, False, [0], " "])
def test_zero_and_false_are_not_empty_results(world: World, full: Any) -> None:
    world.functions["echo"] = lambda: full
    steps = '1. **Echo**\n   - **Use**: echo\n   - **If empty**: stop "Empty."\n'
    assert play_steps(world, steps).success


def test_choose_uses_the_other_expression_without_a_value(world: World) -> None:
    steps = (
        "1. **List**\n   - **Use**: list\n   - **Save as**: names\n"
        "2. **Pick**\n   - **Choose**: `names.filter(n, n == 'z').first()`\n   - **Or else**: {}\n"
        "   - **Save as**: name\n3. **Return**:\n   - name: `name`\n"
    )
    assert play_steps(world, steps.replace("{}", "`names[1]`")).data == {"name": "b"}
    assert play_steps(world, steps.replace("{}", 'stop "No z."')).message == "No z."
    assert play_steps(world, steps.replace("{}", "continue")).data == {"name": None}


def test_choose_without_a_value_and_without_or_else_fails(world: World) -> None:
    result = play_steps(
        world, "1. **Pick**\n   - **Choose**: `['a'].filter(n, n == 'z').first()`\n"
    )
    assert result.code == "no_value"
    assert result.message.startswith("Step 1 (Pick) failed")


def test_a_false_check_fails_the_step(world: World) -> None:
    steps = (
        "1. **List**\n   - **Use**: list\n   - **Save as**: names\n"
        "   - **Check**: `size(names) > 3`\n"
    )
    assert play_steps(world, steps).code == "check_failed"
    assert play_steps(world, steps.replace("> 3", "== 3")).success


def test_an_expression_without_a_value_fails_its_step(world: World) -> None:
    result = play_steps(world, "1. **Say**\n   - **Ask**: {word}?\n")
    assert result.code == "expression_failed"
    assert "'word' has no value" in result.message


# Loops


def test_each_item_may_choose_or_have_no_value(world: World) -> None:
    steps = (
        "1. **Pick**\n   - **For each**: n in `[1, 2, 3]`\n"
        "   - **Choose**: `[10, 20, 30].filter(x, x == n * 20).first()`\n   - **Or else**: {}\n"
        "   - **Save as**: got\n2. **Return**:\n   - got: `got`\n"
    )
    assert play_steps(world, steps.replace("{}", "`0`")).data == {"got": [20, 0, 0]}
    assert play_steps(world, steps.replace("{}", 'stop "None."')).message == "None."
    assert play_steps(world, steps.replace("   - **Or else**: {}\n", "")).code == "no_value"


def test_a_loop_keeps_the_order_of_its_items(world: World) -> None:
    order = iter([0.003, 0.002, 0.001])
    running = 0
    most = 0

    async def make(name: str) -> dict[str, str]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(next(order))
        running -= 1
        return {"id": name}

    world.functions["make"] = make
    steps = (
        "1. **Make**\n   - **For each**: n in `['x', 'y', 'z']`\n   - **At Once**: 3\n"
        "   - **Use**: make\n   - **With**:\n     - name: `n`\n   - **Save as**: made\n"
        "2. **Return**:\n   - ids: `made.map(m, m.id)`\n"
    )
    assert play_steps(world, steps).data == {"ids": ["x", "y", "z"]}
    assert most == 3


def test_a_loop_over_too_many_items_is_an_error(world: World) -> None:
    steps = (
        "1. **Make**\n   - **For each**: n in `lists.range(1000) + [1]`\n   - **Use**: echo\n"
        "   - **With**:\n     - count: `n`\n"
    )
    assert play_steps(world, steps).code == "too_many_items"
    assert world.calls == []


def test_an_item_that_fails_and_goes_on_is_left_out(world: World) -> None:
    def make(name: str) -> dict[str, str]:
        if name == "y":
            raise ToolError("no y", code="no_y")
        return {"id": name}

    world.functions["make"] = make
    steps = (
        "1. **Make**\n   - **For each**: n in `['x', 'y', 'z']`\n   - **Use**: make\n"
        "   - **With**:\n     - name: `n`\n   - **Save as**: made\n   - **On error**: {}\n"
        "2. **Return**:\n   - ids: `made.map(m, m.id)`\n"
    )
    assert play_steps(world, steps.replace("{}", "continue")).data == {"ids": ["x", "z"]}
    world.calls.clear()
    assert play_steps(world, steps.replace("{}", 'stop "No."')).message == "No."
    assert [arguments["name"] for _, arguments in world.calls] == ["x", "y"]


def test_a_loop_that_an_item_ended_is_reported_as_failed(world: World) -> None:
    def make(name: str) -> dict[str, str]:
        raise ToolError(f"no {name}", code="none")

    world.functions["make"] = make
    steps = (
        "1. **Make**\n   - **For each**: n in `['x', 'y']`\n   - **Use**: make\n"
        "   - **With**:\n     - name: `n`\n   - **On error**: {}\n"
    )
    play_steps(world, steps.replace("{}", 'stop "No."'))
    assert _told(world) == [
        ("started", "1", ""),
        ("failed", "1[0]", "make: no x"),
        ("failed", "1", "at 1[0]"),
    ]
    world.events.clear()
    play_steps(world, steps.replace("{}", "continue"))
    assert _told(world) == [
        ("started", "1", ""),
        ("failed", "1[0]", "make: no x"),
        ("failed", "1[1]", "make: no y"),
        ("done", "1", ""),
    ]


def test_a_declined_item_is_reported_by_its_own_key(world: World) -> None:
    steps = (
        "1. **Make**\n   - **For each**: n in `['x', 'y']`\n   - **Ask**: Make {n}?\n"
        "   - **Use**: make\n   - **With**:\n     - name: `n`\n"
    )
    play_steps(world, steps, answers=(YES, NO))
    told = [event for event in _told(world) if event[0] == "failed"]
    assert told == [("failed", "1[1]", "declined"), ("failed", "1", "at 1[1]")]


def _told(world: World) -> list[tuple[str, str, str]]:
    return [(event.kind, event.step, event.text) for event in world.events]


# Events


def kinds(world: World) -> Iterator[tuple[str, str]]:
    return ((event.step, event.kind) for event in world.events)


def test_each_step_reports_its_state(world: World) -> None:
    steps = (
        "1. **Skip**\n   - **When**: `false`\n   - **Use**: list\n"
        "2. **List**\n   - **Use**: list\n3. **Go on**\n   - **Ask**: Go on?\n"
        "4. **Stop**: Enough.\n"
    )
    play_steps(world, steps, answers=(YES,))
    assert list(kinds(world)) == [
        ("1", "skipped"),
        ("2", "started"),
        ("2", "done"),
        ("3", "started"),
        ("3", "waiting"),
        ("3", "progress"),
        ("3", "done"),
        ("4", "started"),
        ("4", "done"),
    ]
