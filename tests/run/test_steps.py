"""What each key of a step does when a skill runs."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from run_world import NO, YES, World, skill, tool

from toolmark._model.call import Caller
from toolmark._model.result import SkillResult
from toolmark._model.run import Answer
from toolmark.errors import ToolError

WORD = """### word

- **Type**: string
- **Description**: a word
"""
READ = "- **Read Only**: true"


@pytest.fixture
def world() -> World:
    made = World(
        tool("echo", "- `text` (string)\n- `count` (integer)\n- `tags` (array of string)",
             metadata=READ),
        tool("make", "- `name` (string, required)"),
        tool("drop", "- `name` (string, required)"),
        tool("list", returns="- **Type**: array\n- **Items**:\n  - **Type**: string",
             metadata=READ),
        tool("guarded", "- `name` (string, required)",
             more="## Safety\n\n- **Requires Confirmation**: true\n- **Sensitivity**: high"),
        tool("ward", metadata="- **Requires Patient Context**: true"),
    )  # fmt: skip
    made.functions["list"] = lambda: ["a", "b", "c"]
    made.functions["make"] = lambda name: {"id": f"id-{name}"}
    return made


def play(
    world: World,
    steps: str,
    inputs: dict[str, Any] | None = None,
    *,
    answers: tuple[Answer | None, ...] = (),
    metadata: str = "",
    caller: Caller | None = None,
) -> SkillResult:
    tools = "echo, make, drop, list, guarded, ward"
    spec = skill(steps, tools, WORD, metadata=metadata)
    who = caller or Caller("u1")
    return asyncio.run(world.run(spec, inputs, answers=answers, caller=who))


def failing(times: int, code: str = "down") -> Any:
    """Give a tool that fails so often before it works."""
    left = iter([True] * times)

    def tool_function(**_: Any) -> dict[str, str]:
        if next(left, False):
            raise ToolError("out of order", code=code)
        return {"id": "made"}

    return tool_function


# Values


def test_text_is_read_by_the_type_that_the_parameter_has(world: World) -> None:
    steps = "1. **Echo**\n   - **Use**: echo\n   - **With**:\n     - count: 20\n     - tags: a, b\n"
    assert play(world, steps).success
    assert world.calls == [("echo", {"count": 20, "tags": ["a", "b"]})]


def test_an_expression_keeps_its_type_and_braces_make_text(world: World) -> None:
    steps = (
        "1. **List**\n   - **Use**: list\n   - **Save as**: names\n"
        "2. **Echo**\n   - **Use**: echo\n   - **With**:\n     - count: `size(names)`\n"
        "     - text: {names} are {size(names)}, {1.0 + 1.5}, {double(3)}, {size(names) > 2}\n"
        "     - tags:\n       - first\n       - `names[2]`\n"
    )
    assert play(world, steps).success
    assert world.calls[1][1] == {
        "count": 3,
        "text": "a, b, c are 3, 2.5, 3, yes",
        "tags": ["first", "c"],
    }


def test_a_whole_double_is_taken_as_an_integer(world: World) -> None:
    steps = (
        "1. **Echo**\n   - **Use**: echo\n   - **With**:\n"
        "     - count: `math.round(double(2) / 1.0)`\n"
    )
    assert play(world, steps).success
    assert world.calls == [("echo", {"count": 2})]


def test_an_optional_input_that_is_not_given_leaves_its_argument_out(world: World) -> None:
    steps = "1. **Echo**\n   - **Use**: echo\n   - **With**:\n     - text: `word`\n"
    assert play(world, steps).success
    assert play(world, steps, {"word": "hi"}).success
    assert [arguments for _, arguments in world.calls] == [{}, {"text": "hi"}]


def test_return_gives_data_of_any_shape_and_a_message(world: World) -> None:
    steps = (
        "1. **List**\n   - **Use**: list\n   - **Save as**: names\n"
        "2. **Return**: Found {size(names)}.\n   - first: `names[0]`\n   - all: `names`\n"
        "   - text: {names}\n   - more:\n     - a: 1\n     - b: `size(names)`\n"
    )
    result = play(world, steps)
    assert result.message == "Found 3."
    assert result.data == {
        "first": "a",
        "all": ["a", "b", "c"],
        "text": "a, b, c",
        "more": {"a": "1", "b": 3},
    }


def test_a_list_that_ends_without_return_is_a_success_without_data(world: World) -> None:
    result = play(world, "1. **List**\n   - **Use**: list\n")
    assert (result.success, result.data, result.message) == (True, {}, "Trial: done.")


def test_inputs_are_held_against_the_input_schema(world: World) -> None:
    result = play(world, "1. **List**\n   - **Use**: list\n", {"word": 3, "other": 1})
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
    assert play(world, steps).data == {"known": False}
    assert play(world, steps, {"word": "x"}).data == {"known": True}


def test_an_empty_result_goes_where_the_step_says(world: World) -> None:
    steps = (
        "1. **List**\n   - **Use**: list\n   - **Save as**: names\n   - **If empty**: go to None\n"
        "2. **Return**:\n   - n: `size(names)`\n\n### None\n\n"
        "1. **Stop**: Nothing, not {size(names)}.\n"
    )
    assert play(world, steps).data == {"n": 3}
    world.functions["list"] = list
    result = play(world, steps)
    assert (result.message, result.code) == ("Nothing, not 0.", "stopped")


@pytest.mark.parametrize("empty", [None, [], {}, ""])
def test_nothing_and_what_holds_nothing_is_empty(world: World, empty: Any) -> None:
    world.functions["echo"] = lambda: empty
    steps = '1. **Echo**\n   - **Use**: echo\n   - **If empty**: stop "Empty."\n'
    assert play(world, steps).message == "Empty."


@pytest.mark.parametrize("full", [0, False, [0], " "])
def test_zero_and_false_are_no_empty_results(world: World, full: Any) -> None:
    world.functions["echo"] = lambda: full
    steps = '1. **Echo**\n   - **Use**: echo\n   - **If empty**: stop "Empty."\n'
    assert play(world, steps).success


def test_choose_takes_the_other_expression_where_there_is_no_value(world: World) -> None:
    steps = (
        "1. **List**\n   - **Use**: list\n   - **Save as**: names\n"
        "2. **Pick**\n   - **Choose**: `names.filter(n, n == 'z').first()`\n   - **Or else**: {}\n"
        "   - **Save as**: name\n3. **Return**:\n   - name: `name`\n"
    )
    assert play(world, steps.replace("{}", "`names[1]`")).data == {"name": "b"}
    assert play(world, steps.replace("{}", 'stop "No z."')).message == "No z."
    assert play(world, steps.replace("{}", "continue")).data == {"name": None}


def test_choose_without_a_value_and_without_or_else_fails(world: World) -> None:
    result = play(world, "1. **Pick**\n   - **Choose**: `['a'].filter(n, n == 'z').first()`\n")
    assert result.code == "no_value"
    assert result.message.startswith("Step 1 (Pick) failed")


def test_a_check_that_does_not_hold_fails_the_step(world: World) -> None:
    steps = (
        "1. **List**\n   - **Use**: list\n   - **Save as**: names\n"
        "   - **Check**: `size(names) > 3`\n"
    )
    assert play(world, steps).code == "check_failed"
    assert play(world, steps.replace("> 3", "== 3")).success


def test_an_expression_that_gives_no_value_fails_its_step(world: World) -> None:
    result = play(world, "1. **Say**\n   - **Ask**: {word}?\n")
    assert result.code == "expression_failed"
    assert "'word' has no value" in result.message


# Errors


def test_a_failure_names_the_step_the_tool_and_the_code(world: World) -> None:
    world.functions["make"] = failing(1, "full")
    result = play(world, "1. **Make it**\n   - **Use**: make\n   - **With**:\n     - name: x\n")
    assert result.to_dict() == {
        "success": False,
        "message": "Step 1 (Make it) failed: make: out of order",
        "data": {},
        "error": "full: make: out of order",
        "run_id": "run-1",
    }


@pytest.mark.parametrize(
    ("way", "success", "message"),
    [
        ("continue", True, "Trial: done."),
        ('stop "Sorry."', False, "Sorry."),
        ("go to Help", False, "Help came."),
    ],
)
def test_on_error_leads_on(world: World, way: str, *, success: bool, message: str) -> None:
    world.functions["list"] = failing(9)
    steps = (
        f"1. **List**\n   - **Use**: list\n   - **On error**: {way}\n\n### Help\n\n"
        f"1. **Stop**: Help came.\n"
    )
    result = play(world, steps)
    assert (result.success, result.message) == (success, message)


@pytest.mark.parametrize(("fails", "calls", "success"), [(2, 3, True), (3, 3, False)])
def test_a_reading_tool_is_tried_again(
    world: World, fails: int, calls: int, *, success: bool
) -> None:
    world.functions["list"] = failing(fails)
    steps = '1. **List**\n   - **Use**: list\n   - **On error**: retry 2 times, then stop "No."\n'
    assert play(world, steps).success == success
    assert len(world.calls) == calls
    assert [key.split("/", 1)[1] for key in world.keys] == ["1:list"] * 3


def test_what_can_never_work_is_not_tried_again(world: World) -> None:
    steps = (
        "1. **Echo**\n   - **Use**: echo\n   - **With**:\n     - text: `dyn(1)`\n"
        "   - **On error**: retry 5 times, then continue\n"
    )
    assert play(world, steps).success
    assert [event.kind for event in world.events if event.kind == "progress"] == []


@pytest.mark.parametrize(("name", "code"), [("list", "timeout"), ("make", "outcome_unknown")])
def test_a_timeout_of_what_may_have_happened_is_unknown(world: World, name: str, code: str) -> None:
    async def forever(**_: Any) -> None:
        await asyncio.Event().wait()

    world.functions[name] = forever
    given = "   - **With**:\n     - name: x\n" if name == "make" else ""
    result = play(world, f"1. **Wait**\n   - **Use**: {name}\n{given}   - **Timeout**: 10ms\n")
    assert result.code == code
    assert "within 0.01 s" in result.message


def test_a_door_that_breaks_is_told_as_unknown_and_what_was_done_is_undone(world: World) -> None:
    def broken() -> None:
        raise RuntimeError("the door is off its hinges")

    world.functions["list"] = broken
    result = play(world, MAKE + "2. **List**\n   - **Use**: list\n")
    assert result.code == "outcome_unknown"
    assert world.called == ["make", "list", "drop"]


# Undo

MAKE = (
    "1. **Make**\n   - **Use**: make\n   - **With**:\n     - name: one\n   - **Save as**: made\n"
    "   - **Undo**: drop\n     - name: `made.id`\n"
)


@pytest.mark.parametrize(
    "ending",
    [
        "2. **Stop**: Enough.\n",
        "2. **Ask**\n   - **Ask**: Go on?\n",
        '2. **Empty**\n   - **Use**: echo\n   - **If empty**: stop "Empty."\n',
        "2. **Fail**\n   - **Choose**: `1 / 0`\n",
        (
            "2. **Look**\n   - **Use**: echo\n   - **If empty**: go to End\n\n### End\n\n"
            "1. **Stop**: x.\n"
        ),
    ],
)
def test_a_skill_that_stops_undoes_what_it_did(world: World, ending: str) -> None:
    assert not play(world, MAKE + ending, answers=(NO,)).success
    assert [call for call in world.calls if call[0] != "echo"] == [
        ("make", {"name": "one"}),
        ("drop", {"name": "id-one"}),
    ]


def test_a_skill_that_returns_undoes_nothing(world: World) -> None:
    assert play(world, MAKE + "2. **Return**:\n   - id: `made.id`\n").data == {"id": "id-one"}
    assert world.called == ["make"]


def test_what_is_done_last_is_undone_first(world: World) -> None:
    steps = (
        "1. **Make**\n   - **For each**: n in `['x', 'y', 'z']`\n   - **At Once**: 3\n"
        "   - **Use**: make\n   - **With**:\n     - name: `n`\n   - **Save as**: made\n"
        "   - **Undo**: drop\n     - name: `made.id`\n2. **Stop**: {size(made)} made.\n"
    )
    result = play(world, steps)
    assert result.message == "3 made."
    assert [arguments["name"] for name, arguments in world.calls if name == "drop"] == [
        "id-z",
        "id-y",
        "id-x",
    ]


def test_an_undo_that_fails_is_told_and_hinders_no_other(world: World) -> None:
    def drop(name: str) -> dict[str, Any]:
        if name == "id-y":
            raise ToolError("stuck", code="stuck")
        return {}

    world.functions["drop"] = drop
    steps = (
        "1. **Make**\n   - **For each**: n in `['x', 'y', 'z']`\n   - **Use**: make\n"
        "   - **With**:\n     - name: `n`\n   - **Save as**: made\n"
        "   - **Undo**: drop\n     - name: `made.id`\n2. **Stop**: Enough.\n"
    )
    result = play(world, steps)
    assert result.message == "Enough. Not undone: step 1[1] (Make): drop: stuck"
    assert world.called.count("drop") == 3


def test_a_call_whose_check_fails_is_undone_too(world: World) -> None:
    steps = MAKE + "   - **Check**: `made.id == 'other'`\n"
    assert play(world, steps).code == "check_failed"
    assert world.called == ["make", "drop"]


# Loops


def test_each_item_may_choose_or_have_no_value(world: World) -> None:
    steps = (
        "1. **Pick**\n   - **For each**: n in `[1, 2, 3]`\n"
        "   - **Choose**: `[10, 20, 30].filter(x, x == n * 20).first()`\n   - **Or else**: {}\n"
        "   - **Save as**: got\n2. **Return**:\n   - got: `got`\n"
    )
    assert play(world, steps.replace("{}", "`0`")).data == {"got": [20, 0, 0]}
    assert play(world, steps.replace("{}", 'stop "None."')).message == "None."
    assert play(world, steps.replace("   - **Or else**: {}\n", "")).code == "no_value"


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
    assert play(world, steps).data == {"ids": ["x", "y", "z"]}
    assert most == 3


def test_a_loop_over_too_many_items_is_refused(world: World) -> None:
    steps = (
        "1. **Make**\n   - **For each**: n in `lists.range(1000) + [1]`\n   - **Use**: echo\n"
        "   - **With**:\n     - count: `n`\n"
    )
    assert play(world, steps).code == "too_many_items"
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
    assert play(world, steps.replace("{}", "continue")).data == {"ids": ["x", "z"]}
    world.calls.clear()
    assert play(world, steps.replace("{}", 'stop "No."')).message == "No."
    assert [arguments["name"] for _, arguments in world.calls] == ["x", "y"]


def test_a_loop_that_an_item_ended_is_told_as_failed_not_as_done(world: World) -> None:
    def make(name: str) -> dict[str, str]:
        raise ToolError(f"no {name}", code="none")

    world.functions["make"] = make
    steps = (
        "1. **Make**\n   - **For each**: n in `['x', 'y']`\n   - **Use**: make\n"
        "   - **With**:\n     - name: `n`\n   - **On error**: {}\n"
    )
    play(world, steps.replace("{}", 'stop "No."'))
    assert _told(world) == [
        ("started", "1", ""),
        ("failed", "1[0]", "make: no x"),
        ("failed", "1", "at 1[0]"),
    ]
    world.events.clear()
    play(world, steps.replace("{}", "continue"))
    assert _told(world) == [
        ("started", "1", ""),
        ("failed", "1[0]", "make: no x"),
        ("failed", "1[1]", "make: no y"),
        ("done", "1", ""),
    ]


def test_a_refused_item_is_told_by_its_own_key(world: World) -> None:
    steps = (
        "1. **Make**\n   - **For each**: n in `['x', 'y']`\n   - **Ask**: Make {n}?\n"
        "   - **Use**: make\n   - **With**:\n     - name: `n`\n"
    )
    play(world, steps, answers=(YES, NO))
    told = [event for event in _told(world) if event[0] == "failed"]
    assert told == [("failed", "1[1]", "refused"), ("failed", "1", "at 1[1]")]


def _told(world: World) -> list[tuple[str, str, str]]:
    return [(event.kind, event.step, event.text) for event in world.events]


# People


def test_a_standalone_question_gives_what_was_said(world: World) -> None:
    steps = (
        "1. **Ask**\n   - **Ask**: Which?\n   - **Save as**: said\n2. **Return**:\n"
        "   - said: `said`\n"
    )
    said = Answer(approved=True, text="the blue one")
    assert play(world, steps, answers=(said,)).data == {"said": "the blue one"}
    assert play(world, steps, answers=(YES,)).data == {"said": True}


def test_a_no_without_if_no_ends_the_skill(world: World) -> None:
    result = play(world, "1. **Go on**\n   - **Ask**: Go on?\n", answers=(NO,))
    assert (result.code, result.message) == ("refused", "Refused: Go on.")


def test_a_guarded_tool_asks_with_its_own_prompt(world: World) -> None:
    steps = "1. **Do it**\n   - **Use**: guarded\n   - **With**:\n     - name: x\n"
    assert play(world, steps, answers=(YES,)).success
    [question] = world.questions
    assert question.prompt == "Shall I guarded?"
    assert (question.tool, question.arguments) == ("guarded", {"name": "x"})
    assert world.called == ["guarded"]


def test_a_guarded_tool_that_is_refused_does_not_run(world: World) -> None:
    steps = "1. **Do it**\n   - **Use**: guarded\n   - **With**:\n     - name: x\n"
    assert play(world, steps, answers=(NO,)).code == "refused"
    assert world.called == []
    assert world.rejected == ["held-2"]


def test_if_no_leads_on_where_a_guarded_tool_asks_by_itself(world: World) -> None:
    steps = (
        "1. **Do it**\n   - **Use**: guarded\n   - **With**:\n     - name: x\n"
        '   - **If no**: stop "Left as it was."\n'
    )
    result = play(world, steps, answers=(NO,))
    assert (result.code, result.message) == ("stopped", "Left as it was.")
    assert world.called == []


def test_a_yes_that_comes_when_the_hold_is_past_counts_all_the_same(world: World) -> None:
    world.lapsed.add("held-2")
    steps = "1. **Do it**\n   - **Use**: guarded\n   - **With**:\n     - name: x\n"
    assert play(world, steps, answers=(YES,)).success
    assert len(world.questions) == 1
    assert world.calls == [("guarded", {"name": "x"})]


def test_the_step_s_question_is_the_guarded_tool_s_confirmation(world: World) -> None:
    steps = (
        "1. **Do it**\n   - **Ask**: Really?\n   - **Use**: guarded\n   - **With**:\n"
        "     - name: x\n"
    )
    assert play(world, steps, answers=(YES,)).success
    assert [question.prompt for question in world.questions] == ["Really?"]
    assert world.questions[0].sensitivity == "high"


def test_a_person_may_approve_other_values(world: World) -> None:
    steps = (
        "1. **Do it**\n   - **Ask**: Really?\n   - **Use**: guarded\n   - **With**:\n"
        "     - name: x\n"
    )
    edited = Answer(approved=True, arguments={"name": "y"})
    assert play(world, steps, answers=(edited,)).success
    assert world.calls == [("guarded", {"name": "y"})]


def test_a_run_without_a_person_waits(world: World) -> None:
    result = play(world, MAKE + "2. **Go on**\n   - **Ask**: Go on?\n")
    assert (result.success, result.code, result.message) == (False, "waiting", "Go on?")
    assert world.called == ["make"]


# The patient


def test_the_patient_is_the_one_that_the_input_names(world: World) -> None:
    steps = "1. **Ward**\n   - **Use**: ward\n"
    named = "- **Patient From**: word\n"
    assert play(world, steps, {"word": "p7"}, metadata=named).success
    assert play(world, steps, {"word": "p7"}, metadata=named, caller=Caller("u", "p7")).success
    assert [caller.patient for caller in world.callers] == ["p7", "p7"]


def test_an_input_can_not_change_the_patient_of_the_session(world: World) -> None:
    steps = "1. **Ward**\n   - **Use**: ward\n"
    result = play(world, steps, {"word": "p8"}, metadata="- **Patient From**: word\n",
                  caller=Caller("u", "p7"))  # fmt: skip
    assert result.code == "patient_context_required"
    assert world.calls == []


# Events


def kinds(world: World) -> Iterator[tuple[str, str]]:
    return ((event.step, event.kind) for event in world.events)


def test_each_step_tells_how_it_fares(world: World) -> None:
    steps = (
        "1. **Skip**\n   - **When**: `false`\n   - **Use**: list\n"
        "2. **List**\n   - **Use**: list\n3. **Go on**\n   - **Ask**: Go on?\n"
        "4. **Stop**: Enough.\n"
    )
    play(world, steps, answers=(YES,))
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
