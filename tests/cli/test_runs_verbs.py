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
def test_a_runs_id_in_place_of_a_calls_names_its_question(shop, verb) -> None:
    run_id = parked(shop)
    words = [verb, run_id, *(["no"] if verb == "respond" else [])]
    told = shop(*words)
    assert (told.out, told.code) == ("", 5)
    assert told.err.startswith("denied[confirmation_not_found]")
    assert f"{run_id} is a run; it asks: Sell 3 of rose?" in told.err
    assert f"help: toolmd confirm {run_id}/" in told.err
    key = told.err.partition(f"toolmd confirm {run_id}/")[2].partition(",")[0]
    assert shop("confirm", f"{run_id}/{key}").code == 0
    assert f"{run_id} is a run, which asks nothing now" in shop(*words).err


@pytest.mark.parametrize("verb", ["show", "resume", "cancel"])
def test_a_questions_id_in_place_of_a_runs_is_explained(shop, verb) -> None:
    run_id = parked(shop)
    (question,) = [one["id"] for one in json.loads(shop("pending", "--json").out)]
    told = shop("runs", verb, question)
    assert (told.out, told.code) == ("", 5)
    assert f"{question} is a question of run {run_id}, not a run" in told.err
    assert f"toolmd confirm {question}" in told.err
