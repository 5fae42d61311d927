"""A decision on a run's question, where the run then waits for the next one."""

import json
import re
import signal
import sys

import pytest
from tests import warm_python
from tests.definitions import skill

GUARDED = """# Take Back

Take flowers back.

## Metadata

- **Name**: take_back
- **Version**: 1.0.0
- **Category**: stock

## Parameters

- `kind` (string, required): The kind

## Returns

- **Type**: string
- **Description**: What was taken back

## Safety

- **Requires Confirmation**: true
"""
SKILL = skill(
    "deliver",
    "sell_flowers, take_back",
    """1. **Sell**
   - **Use**: sell_flowers
   - **With**:
     - kind: rose
     - number: `1`
   - **Undo**: take_back
     - kind: rose

2. **Deliver**
   - **Ask**: Deliver it now?

3. **Greet**
   - **Ask**: Which greeting?
   - **Save as**: greeting

4. **Return**:
   - greeting: `greeting`""",
)


KILLED = """import os
import pathlib

def sell_flowers(kind: str, number: int, note: str | None = None) -> str:
    begun = pathlib.Path(__file__).with_name("begun")
    if not begun.exists():
        begun.touch()
        os.kill(os.getpid(), 9)
    return kind
"""


@pytest.fixture
def florist(shop, monkeypatch):
    monkeypatch.setenv("TOOLMD_STORE", "sqlite")
    shop.write("tools_md/take-back.tool.md", GUARDED)
    shop.write("tools_md/take_back.py", "def take_back(kind: str) -> str: return kind\n")
    shop.write("skills_md/deliver.skill.md", SKILL)
    return shop


def parked(florist) -> str:
    ran = florist("run", "deliver", "--json")
    assert ran.code == 4, ran.err
    (one,) = json.loads(florist("pending", "--json").out)
    return one["id"]


def test_a_rejection_after_which_the_run_asks_for_its_undo_names_the_question(florist):
    held = parked(florist)
    run_id = held.partition("/")[0]
    typed = florist("reject", held)
    (following,) = json.loads(florist("pending", "--json").out)
    assert following["id"].startswith(f"{run_id}/")
    assert typed.err.splitlines() == [
        f"rejected; the run now waits for: {following['prompt']}",
        f"help: toolmd confirm {following['id']}, or reject",
    ]
    assert typed.code == 4


def test_a_rejection_with_json_returns_the_next_question(florist):
    typed = florist("reject", parked(florist), "--json")
    (following,) = json.loads(florist("pending", "--json").out)
    assert json.loads(typed.out)["confirmation"]["id"] == following["id"]
    assert typed.code == 4


@pytest.mark.parametrize("verb", [("confirm",), ("respond", "Yes, now.")])
@pytest.mark.parametrize("shape", [(), ("--json",)])
def test_an_approval_or_an_answer_names_the_next_question(florist, verb, shape):
    word, *text = verb
    typed = florist(word, parked(florist), *text, *shape)
    (following,) = json.loads(florist("pending", "--json").out)
    assert following["prompt"] == "Which greeting?"
    assert following["id"] in typed.out + typed.err
    assert typed.code == 4


def test_a_rejection_after_which_the_run_ends_well_shows_its_result(florist):
    asked = "   - **Ask**: Deliver it now?\n"
    bye = "### Say goodbye\n\n1. **Return**:\n   - greeting: none\n\n## Input Schema"
    well = SKILL.replace(asked, asked + "   - **If no**: go to Say goodbye\n")
    well = well.replace("## Input Schema", bye)
    florist.write("skills_md/deliver.skill.md", well)
    typed = florist("reject", parked(florist))
    assert (json.loads(typed.out), typed.code) == ({"greeting": "none"}, 0)


def test_a_rejected_pending_call_will_not_run(florist):
    florist("call", "take_back", "kind=rose")
    (one,) = json.loads(florist("pending", "--json").out)
    typed = florist("reject", one["id"])
    assert (typed.err, typed.code) == ("rejected: take_back will not run\n", 0)


def test_yes_never_says_that_an_interrupted_call_took_effect(florist):
    florist.write("tools_md/sell_flowers.py", KILLED)
    command = [sys.executable, "-m", "toolmd", "run", "deliver", "--yes"]
    assert warm_python.run(command, cwd=florist.folder, check=False).returncode == -signal.SIGKILL
    run_id = json.loads(florist("runs", "--json").out)[0]["id"]

    resumed = florist("runs", "resume", run_id, "--yes")
    assert resumed.code == 4
    helps = [line for line in resumed.err.splitlines() if line.startswith("help: ")]
    assert helps == [f"help: state it: toolmd runs resolve {run_id} --done or --not-done"]
    assert re.search(
        r"\d  \d:sell_flowers  began$", florist("runs", "show", run_id).out, re.MULTILINE
    )
    assert (florist.folder / "tools_md" / "begun").exists()
    assert florist("runs", "resolve", run_id, "--not-done").code == 4
    assert "sell_flowers  took no effect\n" in florist("runs", "show", run_id).out
    (question,) = json.loads(florist("pending", "--json").out)
    assert question["prompt"] == "Deliver it now?"


READS = SKILL.replace("   - **Undo**: take_back\n     - kind: rose\n", "   - **Save as**: sold\n")
READS = READS.replace("- greeting: `greeting`", "- greeting: `greeting`\n   - sold: `sold`")


def test_a_result_that_a_later_step_reads_is_stated_with_done(florist):
    florist.write("tools_md/sell_flowers.py", KILLED)
    florist.write("skills_md/deliver.skill.md", READS)
    command = [sys.executable, "-m", "toolmd", "run", "deliver"]
    assert warm_python.run(command, cwd=florist.folder, check=False).returncode == -signal.SIGKILL
    run_id = json.loads(florist("runs", "--json").out)[0]["id"]

    resumed = florist("runs", "resume", run_id, "--yes")
    told = f"help: state it: toolmd runs resolve {run_id} --done --result JSON or --not-done"
    assert (resumed.code, resumed.err.splitlines()[-1]) == (4, told)
    (asked,) = json.loads(florist("pending", "--json").out)
    for refused in (
        ("runs", "resolve", run_id, "--done"),
        ("runs", "resolve", run_id, "--done", "--result", "{"),
        ("runs", "resolve", run_id, "--done", "--result", "7"),
        ("confirm", asked["id"]),
        ("respond", asked["id"], "I sold it."),
    ):
        typed = florist(*refused)
        assert (typed.code, "invalid_arguments" in typed.err) == (3, True), refused
    assert florist("runs", "resolve", run_id, "--not-done", "--result", "1").code == 2
    assert florist("runs", "resolve", run_id, "--done", "--not-done").code == 2
    assert json.loads(florist("pending", "--json").out) == [asked]

    assert florist("runs", "resolve", run_id, "--done", "--result", '"rose"').code == 4
    for _ in range(2):
        (question,) = json.loads(florist("pending", "--json").out)
        ended = florist("respond", question["id"], "Hello")
    assert json.loads(ended.out) == {"greeting": "Hello", "sold": "rose"}
