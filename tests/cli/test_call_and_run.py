"""`call` and `run`: their output, and the exit code of each outcome."""

import json
from pathlib import Path

import pytest


def test_a_call_prints_the_tools_result(shop) -> None:
    typed = shop("call", "count-flowers", "kinds=rose,tulip")
    assert json.loads(typed.out) == {"rose": 12, "tulip": 3}
    assert (typed.err, typed.code) == ("", 0)


def test_text_is_printed_as_it_is(shop) -> None:
    assert shop("call", "sell_flowers", "kind=rose", "number=2").out == "2 x rose\n"


def test_a_call_as_json_is_the_whole_result(shop) -> None:
    result = json.loads(shop("call", "sell_flowers", "kind=rose", "number=2", "--json").out)
    assert (result["success"], result["outcome"], result["data"]) == (True, "ok", "2 x rose")


@pytest.mark.parametrize("words", [("--args-json", '{"kind": "rose", "number": 2}'), ("-",)])
def test_arguments_may_come_as_json(shop, words: tuple[str, ...]) -> None:
    stdin = '{"kind": "rose", "number": 2}'
    assert shop("call", "sell_flowers", *words, stdin=stdin).out == "2 x rose\n"


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("kind=rose", "--args-json", "{}"), "key=value"),
        (("kind=rose", "--args-json", "-"), "key=value"),
        (("-", "--args-json", '{"kind": "rose"}'), "-"),
    ],
)
def test_arguments_in_two_forms_are_an_error(shop, words: tuple[str, ...], named: str) -> None:
    typed = shop("call", "sell_flowers", *words, stdin='{"kind": "rose", "number": 2}')
    assert (typed.out, typed.code) == ("", 2)
    assert typed.err == f"error: --args-json and {named} at once\nhelp: use one of the two\n"


def test_a_word_that_is_not_an_argument_is_a_usage_error(shop) -> None:
    typed = shop("call", "sell_flowers", "rose")
    assert typed.code == 2
    assert "'rose' is not of the form key=value" in typed.err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("sell_flowers", "kind=rose", "number=two"), 3),
        (("sell_flowers", "kind=rose"), 3),
        (("sell_flowers", "kind=rose", "number=51"), 3),
        (("sell_flowers", "--args-json", "{"), 3),
        (("sell_flowers", "kind=iris", "number=1"), 1),
        (("order_vase",), 1),
        (("sel_flowers", "kind=rose"), 5),
        (("make_bouquet",), 5),
    ],
)
def test_each_failure_has_its_own_code(shop, words: tuple[str, ...], code: int) -> None:
    typed = shop("call", *words)
    assert typed.out == ""
    assert typed.err
    assert typed.code == code


def test_a_denial_names_the_field_and_the_expected_value(shop, as_golden) -> None:
    as_golden(shop("call", "sell_flowers", "kind=7", "number=two", "nmuber=3").err, "refused.txt")


def test_a_call_without_a_required_fact_names_the_facts_to_supply(shop) -> None:
    file = shop.folder / "tools_md/count-flowers.tool.md"
    key = "- **Category**"
    file.write_text(file.read_text().replace(key, f"- **Requires Context**: shop, till\n{key}", 1))
    shop_only = shop("call", "count_flowers", "--context", "till=2")
    assert shop_only.code == 3
    assert "help: add --context shop=VALUE, what the host knows" in shop_only.err
    assert "add --context shop=VALUE --context till=VALUE," in shop("call", "count_flowers").err
    empty = shop("call", "count_flowers", "--context", "till=2", "--context", "shop=")
    assert (empty.code, empty.err) == (3, shop_only.err)


def test_a_failing_tools_message_is_printed(shop) -> None:
    typed = shop("call", "sell_flowers", "kind=iris", "number=1")
    assert typed.err == "failed[sold_out] There are no irises left.\n"


def test_a_dry_run_runs_nothing(shop) -> None:
    typed = shop("call", "sell_flowers", "kind=iris", "number=1", "--dry-run")
    assert typed.err == "would run: sell_flowers (dry run)\n"
    assert typed.code == 0
    assert shop("call", "sell_flowers", "kind=iris", "number=x", "--dry-run").code == 3


def test_a_tool_without_python_says_so(shop) -> None:
    assert "order_vase" in shop("call", "order_vase").err


def test_a_skill_is_not_a_tool_and_a_tool_is_not_a_skill(shop) -> None:
    called = shop("call", "make-bouquet", "--json")
    assert called.code == 5
    denied = json.loads(called.out)["error"]
    assert denied["code"] == "unknown_tool"
    assert "is a skill: run it with `toolmd run make_bouquet`" in denied["message"]
    typed = shop("run", "sell_flowers")
    assert "is a tool: call it with `toolmd call sell_flowers`" in typed.err
    assert typed.code == 5


def test_a_run_shows_its_steps_and_prints_its_data(shop, as_golden) -> None:
    typed = shop("run", "make_bouquet", "kind=rose", "number=3", "--yes")
    assert json.loads(typed.out) == {"sold": "3 x rose"}
    as_golden(typed.err, "run.txt")
    assert typed.code == 0


def test_a_run_as_json_is_a_result_as_of_a_call(shop) -> None:
    typed = shop(
        "run", "make_bouquet", "--input-json", '{"kind": "rose", "number": 3}', "--yes", "--json"
    )
    result = json.loads(typed.out)
    assert (result["success"], result["tool"], result["outcome"]) == (True, "make_bouquet", "ok")
    assert result["run_id"].startswith("run-")


def test_an_unanswered_question_exits_with_4(shop, as_golden) -> None:
    typed = shop("run", "make_bouquet", "kind=rose", "number=3")
    as_golden(typed.err, "run-waits.txt")
    assert typed.code == 4


def test_a_step_that_fails_ends_with_1(shop) -> None:
    typed = shop("run", "make_bouquet", "kind=iris", "number=3", "--yes")
    assert "failed[sold_out]" in typed.err
    assert typed.code == 1


def test_wrong_inputs_are_denied(shop) -> None:
    typed = shop("run", "make_bouquet", "kind=rose", "number=some", "--yes")
    assert "number" in typed.err
    assert typed.code == 3


def test_an_unknown_skill_names_near_ones(shop) -> None:
    typed = shop("run", "make_boquet")
    assert typed.err == ("error: no skill 'make_boquet'\nhelp: did you mean 'make_bouquet'?\n")
    assert typed.code == 5


def test_an_unknown_command_names_near_ones(shop) -> None:
    typed = shop("lst")
    assert "list" in typed.err
    assert typed.code == 2


def test_a_crash_shows_a_reference_without_a_stack_trace(shop) -> None:
    # A folder where the file of settings belongs is nothing that the command line foresees.
    typed = shop("check", "\0")
    assert typed.code == 70
    assert "Traceback" not in typed.err
    assert "reference " in typed.err
    log = typed.err.partition("The trace is in ")[2].partition(".log")[0] + ".log"
    assert "Traceback" in Path(log).read_text("utf-8")


def test_a_run_passes_the_confidence_to_every_step(shop) -> None:
    shop.write("toolmd.toml", "[safety]\nfloor = 0.7\n")
    words = ("run", "make_bouquet", "kind=rose", "number=1", "--yes", "--json")
    unsaid = shop(*words)
    assert json.loads(unsaid.out)["error"]["code"] == "missing_confidence"
    assert unsaid.code == 3
    assert shop(*words, "--confidence", "0.6").code == 3
    assert shop(*words, "--confidence", "0.7").code == 0
