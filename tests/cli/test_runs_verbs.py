"""`run` and `runs`: steps shown as they go, here and of runs that another process executes."""

import json

import pytest
from test_on_a_terminal import BOUQUET, typed

from toolmd._types.run import RunEvent


@pytest.fixture(autouse=True)
def kept(monkeypatch) -> None:
    """Keep the runs, so that other processes see them."""
    monkeypatch.setenv("TOOLMD_STORE", "sqlite")


def parked(shop) -> str:
    """Give the id of a run that waits for its customer."""
    return json.loads(shop(*BOUQUET, "--json").out)["run_id"]


def test_a_run_prints_its_steps_as_lines_without_a_terminal(shop) -> None:
    told = shop(*BOUQUET, "--yes").err.splitlines()
    assert told[0] == "done  1  Count what is left"
    assert told[2:4] == ["  ..  2  Sell: approved", "done  2  Sell"]


def test_with_json_the_events_go_to_stderr_and_the_result_to_stdout(shop) -> None:
    ran = shop(*BOUQUET, "--yes", "--json")
    assert json.loads(ran.out)["success"]
    events = [RunEvent(**json.loads(line)) for line in ran.err.splitlines() if line[0] == "{"]
    assert [event.step for event in events if event.kind == "done"] == ["1", "2", "3"]


def test_a_terminal_shows_each_step_that_ends(shop) -> None:
    shown, code = typed(shop.folder, *BOUQUET, says="y")
    assert code == 0
    assert "done\x1b[0m  1  Count what is left" in shown


@pytest.mark.parametrize("verb", ["confirm", "reject", "respond"])
def test_a_runs_id_in_place_of_a_questions_is_not_found(shop, verb) -> None:
    run_id = parked(shop)
    told = shop(verb, run_id, *(["no"] if verb == "respond" else []))
    assert (told.out, told.code) == ("", 5)
    assert told.err.startswith("denied[confirmation_not_found]")
    assert "help: toolmd pending lists the calls that wait, and the questions of runs" in told.err


@pytest.mark.parametrize("verb", ["show", "resume", "cancel"])
def test_a_questions_id_in_place_of_a_runs_is_not_found(shop, verb) -> None:
    parked(shop)
    (question,) = [one["id"] for one in json.loads(shop("pending", "--json").out)]
    told = shop("runs", verb, question)
    assert (told.out, told.code) == ("", 5)
    assert f"there is no run '{question}'" in told.err
