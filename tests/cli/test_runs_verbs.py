"""`run` and `runs`: steps shown as they go, here and of runs that another process executes."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_on_a_terminal import BOUQUET, typed

from toolmd._types.run import RunEvent


@pytest.fixture(autouse=True)
def kept(monkeypatch) -> None:
    """Keep the runs, so that other processes see them."""
    monkeypatch.setenv("TOOLMD_STORE", "sqlite")


CODES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\r")


def parked(shop) -> str:
    """Give the id of a run that waits for its customer."""
    return json.loads(shop(*BOUQUET, "--json").out)["run_id"]


def watched(folder: Path, run_id: str) -> subprocess.Popen[str]:
    """Watch a run in a process of its own."""
    command = [sys.executable, "-m", "toolmd", "runs", "watch", run_id, "--json"]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)


def test_a_run_prints_its_steps_as_lines_without_a_terminal(shop) -> None:
    told = shop(*BOUQUET, "--yes").err.splitlines()
    assert told[0] == "done  1  Count what is left"
    assert told[2:4] == ["  ..  2  Sell: approved", "done  2  Sell"]


def test_with_json_the_events_go_to_stderr_and_the_result_to_stdout(shop) -> None:
    ran = shop(*BOUQUET, "--yes", "--json")
    assert json.loads(ran.out)["success"]
    events = [RunEvent(**json.loads(line)) for line in ran.err.splitlines() if line[0] == "{"]
    assert [event.step for event in events if event.kind == "done"] == ["1", "2", "3"]


def test_a_terminal_shows_all_steps_and_which_are_done(shop) -> None:
    shown, code = typed(shop.folder, *BOUQUET, says="y")
    plain = CODES.sub("", shown)
    assert code == 0
    assert plain.index("? 2 Sell") < plain.index("Sell 3 of rose? [y/N]")
    last = plain[plain.rindex("1 Count what is left") - 2 :].splitlines()
    assert [line.split("  ")[0].rstrip() for line in last[:3]] == [
        "✓ 1 Count what is left", "✓ 2 Sell", "✓ 3 Return"
    ]  # fmt: skip


def test_a_terminal_without_abilities_gets_lines(shop, monkeypatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    shown, _ = typed(shop.folder, *BOUQUET, says="y")
    assert "done\x1b[0m  1  Count what is left" in shown


def test_a_run_of_another_process_is_watched_to_its_end(shop) -> None:
    run_id = parked(shop)
    with watched(shop.folder, run_id) as watch:
        assert watch.stdout is not None
        events = []
        while not events or events[-1].kind != "waiting":
            events.append(RunEvent(**json.loads(watch.stdout.readline())))
        assert [event.step for event in events] == ["1", "1", "2", "2"]
        assert shop("confirm", f"{run_id}/2:ask").code == 0
        *rest, last = [json.loads(line) for line in watch.stdout]
    assert [event["step"] for event in rest if event["kind"] == "done"] == ["2", "3"]
    assert last["result"]["success"]
    assert watch.returncode == 0


def test_a_run_that_ended_is_watched_once_through(shop) -> None:
    run_id = json.loads(shop(*BOUQUET, "--yes", "--json").out)["run_id"]
    seen = shop("runs", "watch", run_id)
    assert "done  3  Return" in seen.err
    assert (json.loads(seen.out)["sold"], seen.code) != (None, 1)
    assert shop("runs", "watch", "run-none").code == 5


def test_a_run_is_drawn_with_its_state_and_its_pinned_skill(shop) -> None:
    run_id = parked(shop)
    (shop.folder / "skills_md" / "make-bouquet.skill.md").unlink()
    drawn = json.loads(shop("runs", "graph", run_id, "--svg", "--json").out)
    assert drawn["states"] == {"1": "done", "2": "waiting"}
    assert 'class="step use waiting"' in drawn["text"]
    assert "Sell (waits)" in shop("runs", "graph", run_id).out


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


@pytest.mark.parametrize("verb", ["show", "watch", "graph", "resume", "cancel"])
def test_a_questions_id_in_place_of_a_runs_is_explained(shop, verb) -> None:
    run_id = parked(shop)
    (question,) = [one["id"] for one in json.loads(shop("pending", "--json").out)]
    told = shop("runs", verb, question)
    assert (told.out, told.code) == ("", 5)
    assert f"{question} is a question of run {run_id}, not a run" in told.err
    assert f"toolmd confirm {question}" in told.err
