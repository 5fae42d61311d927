"""Conversations that are written down, and replayed without the model."""

import asyncio
import json
from pathlib import Path

import pytest
from nursery import definition
from tests.command import run_command

from toolmd import Conversation, Decision, Workspace
from toolmd.testing import ModelServer, asking

SECRET = "4111-2222"
PAY = definition("pay", ("card", "string")).replace("The card", "The card\n- **Sensitive**: true")
FILES = {
    "water.tool.md": definition("water", ("plant", "string"), ("litres", "integer")),
    "remind.tool.md": definition(
        "remind",
        ("time", "string"),
        extra="## Safety\n\n- **Explicit Intent**: true\n- **Intent Keywords**: remind\n",
    ),
}
WATER = asking(("water", {"plant": "fern", "litres": 2}))
WRONG = asking(("water", {"plant": "fern", "litres": "two"}))
REMIND = asking(("remind", {"time": "9:00"}))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "toolmd.toml").write_text('[chat]\nmodel = "scripted"\n')
    tools = tmp_path / "tools_md"
    tools.mkdir()
    for name, text in FILES.items():
        (tools / name).write_text(text)
    (tools / "water.py").write_text("def water(plant: str, litres: int) -> dict:\n    return {}\n")
    (tools / "remind.py").write_text("def remind(time: str) -> dict:\n    return {}\n")
    return tmp_path


def record(project: Path, *replies, said: str) -> list[dict]:
    with ModelServer(*replies) as server:
        ended = run_command(
            project, "chat", "--base-url", server.base_url, "--record", "talk.jsonl", stdin=said
        )
    assert (project / "talk.jsonl").exists(), ended.err
    return [json.loads(line) for line in (project / "talk.jsonl").read_text().splitlines()]


def test_a_recorded_conversation_replays_the_same(project) -> None:
    replies = ("At what time?", REMIND, "Set.", REMIND, "No.", WRONG, WATER, "Done.")
    events = record(project, *replies, said="remind me\nat 9:00\nthanks\nwater it\n")
    assert [event["event"] for event in events].count("model") == len(replies)
    outcomes = [result["outcome"] for event in events for result in event.get("results", ())]
    assert outcomes == ["ok", "denied", "denied", "ok"]
    ended = run_command(project, "test", "--transcript", "talk.jsonl")
    assert ended.code == 0, ended.out
    assert ended.out.count("ok  ") == len(replies)


def test_a_difference_is_shown(project) -> None:
    record(project, WATER, "Done.", said="Water it\n")
    file = project / "tools_md" / "water.tool.md"
    file.write_text(file.read_text() + "## Safety\n\n- **Requires Confirmation**: true\n")
    ended = run_command(project, "test", "--transcript", "talk.jsonl", "--json")
    assert ended.code == 1
    first, second = json.loads(ended.out)
    assert first["message"] == "expected water allowed; got water confirm"
    assert (first["passed"], second["passed"]) == (False, True)


def test_a_sensitive_value_is_never_written(project) -> None:
    (project / "tools_md" / "pay.tool.md").write_text(PAY)
    (project / "tools_md" / "pay.py").write_text(
        'def pay(card: str) -> dict:\n    return {"message": f"Paid with {card}"}\n'
    )
    paying = asking(("pay", {"card": SECRET}), text=f"I use {SECRET}.")
    broken = asking(("pay", f'{{"card": "{SECRET}"'))
    unknown = asking(("pey", {"card": SECRET}))
    events = record(
        project, "Which card?", paying, f"{SECRET} is charged.", broken, unknown, "Sorry.",
        said=f"Pay with {SECRET}\nmy {SECRET}\nagain\n",
    )  # fmt: skip
    assert SECRET not in json.dumps(events)
    assert events[1]["text"] == "Pay with (hidden)"
    ended = run_command(project, "test", "--transcript", "talk.jsonl")
    assert ended.code == 0, ended.out
    assert "skip" in ended.out


def test_an_existing_file_is_not_overwritten(project) -> None:
    (project / "talk.jsonl").write_text("mine")
    ended = run_command(
        project, "chat", "--base-url", "http://127.0.0.1:1/v1", "--record", "talk.jsonl"
    )
    assert ended.code == 2
    assert (project / "talk.jsonl").read_text() == "mine"


MOVE = definition(
    "move",
    ("to", "string"),
    extra="## Safety\n\n- **Requires Confirmation**: true\n- **Sensitivity**: critical\n",
)


def test_decisions_are_recorded_and_replayed(project) -> None:
    (project / "tools_md" / "move.tool.md").write_text(MOVE)
    (project / "tools_md" / "move.py").write_text("def move(to: str) -> dict:\n    return {}\n")
    decisions = iter((Decision.edit({"to": "sun"}), True, Decision.respond("Not today"), False))
    file = project / "talk.jsonl"

    async def talk() -> None:
        moving = [asking(("move", {"to": place})) for place in ("shade", "shed", "road")]
        with ModelServer(moving[0], "Done.", moving[1], "Well.", moving[2], "No.") as server:
            workspace = Workspace.open(project)
            async with Conversation(
                workspace, base_url=server.base_url, confirm=lambda _: next(decisions)
            ) as conversation:
                for _ in range(3):
                    await conversation.say("Move the fern")
                file.write_text(conversation.transcript.text())
            await workspace.aclose()

    asyncio.run(talk())
    made = [one for one in map(json.loads, file.read_text().splitlines()) if "decision" in one]
    assert [(one["decision"], one["outcome"]) for one in made] == [
        ("edit", "confirm"), ("approve", "ok"), ("respond", "ok"), ("reject", "denied"),
    ]  # fmt: skip
    ended = run_command(project, "test", "--transcript", "talk.jsonl")
    assert ended.code == 0, ended.out
    assert "move denied[rejected]" in ended.out
    file.write_text(file.read_text().replace('"decision": "reject"', '"decision": "approve"'))
    ended = run_command(project, "test", "--transcript", "talk.jsonl")
    assert "expected move denied[rejected]; got move allowed" in ended.out


@pytest.mark.parametrize("decision", [True, False, Decision.edit({"card": "5500-1"})])
def test_a_decision_on_a_call_with_hidden_values_is_skipped(project, decision) -> None:
    (project / "tools_md" / "pay.tool.md").write_text(
        f"{PAY}\n## Safety\n\n- **Requires Confirmation**: true\n"
    )
    (project / "tools_md" / "pay.py").write_text("def pay(card: str) -> dict:\n    return {}\n")

    async def talk_about_it() -> str:
        replies = (asking(("pay", {"card": SECRET})), "Paid.", WATER, "Done.")
        with ModelServer(*replies) as server, Workspace.open(project) as workspace:
            async with Conversation(
                workspace, base_url=server.base_url, confirm=lambda _: decision
            ) as talk:
                await talk.say("Pay it")
                await talk.say("Water it")
                return talk.transcript.text()

    (project / "talk.jsonl").write_text(asyncio.run(talk_about_it()))
    ended = run_command(project, "test", "--transcript", "talk.jsonl")
    assert ended.code == 0, ended.out
    lines = ended.out.splitlines()
    assert [line[:4] for line in lines].count("skip") == 2
    assert any("water allowed" in line for line in lines)


def test_a_replay_counts_calls_and_keeps_a_crisis_of_an_earlier_turn(project) -> None:
    tools = project / "tools_md"
    once = definition("once", ("n", "integer"), extra="## Limits\n\n- **Max Calls**: 1\n")
    mood = definition("mood", ("word", "string"),
                      extra="## Safety\n\n- **Escalate When**: `word == 'crisis'`\n")  # fmt: skip
    for name, text, parameter in (("once", once, "n: int"), ("mood", mood, "word: str")):
        (tools / f"{name}.tool.md").write_text(text)
        (tools / f"{name}.py").write_text(f"def {name}({parameter}) -> dict:\n    return {{}}\n")
    calls = [asking(("once", {"n": n})) for n in (1, 2)] + [asking(("mood", {"word": "crisis"}))]
    replies = [one for call in (*calls, WATER) for one in (call, "Well.")]
    events = record(project, *replies, said="one\ntwo\nmood\nwater it\n")
    outcomes = [result["outcome"] for event in events for result in event.get("results", ())]
    assert outcomes == ["ok", "denied", "review", "review"]
    ended = run_command(project, "test", "--transcript", "talk.jsonl")
    assert ended.code == 0, ended.out


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"event": "user", "text": "Hi"}', '{"event": "conversation", "format": 9}'],
)
def test_what_is_no_transcript_is_an_error(project, text: str) -> None:
    (project / "talk.jsonl").write_text(text)
    ended = run_command(project, "test", "--transcript", "talk.jsonl")
    assert ended.code == 2
    assert "talk.jsonl" in ended.err
    assert "Traceback" not in ended.err


SKILL = """# Look up a card

Look up the card on file.

## Metadata

- **Name**: look_up
- **Version**: 1.0
- **Category**: garden
- **Required Tools**: pay

## Workflow

1. **Return**:
   - card: 4111-2222

## Input Schema

None

## Output Schema

- **Type**: object (SkillResult)
"""


def test_what_a_skill_returns_is_hidden_where_a_tool_has_sensitive_values(project) -> None:
    (project / "tools_md" / "pay.tool.md").write_text(PAY)
    (project / "skills_md").mkdir()
    (project / "skills_md" / "look-up.skill.md").write_text(SKILL)
    events = record(project, asking(("look_up", {})), "Done.", said="which card?\n")

    (result,) = events[2]["results"]
    assert (result["outcome"], result["data"]) == ("ok", "(hidden)")
    assert SECRET not in (project / "talk.jsonl").read_text()
