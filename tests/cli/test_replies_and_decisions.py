"""`handle`, `pending`, `confirm`, `reject`, `respond`: their output and exit codes."""

import json
import os
import re
import sys

import pytest
from tests.command import run_command


@pytest.fixture(autouse=True)
def on_sqlite(monkeypatch: pytest.MonkeyPatch) -> None:
    """Store confirmations in a file: each command is a process of its own."""
    monkeypatch.setenv("TOOLMD_STORE", "sqlite")


GIFT = """# Gift Flowers

Give flowers away.

## Metadata

- **Name**: gift_flowers
- **Version**: 1.0.0
- **Category**: stock

## Parameters

### kind

- **Type**: string
- **Required**: true
- **Description**: The kind

### days

- **Type**: array
- **Description**: On which days of the week
- **Items**:
  - **Type**: integer
  - **Minimum**: 1
  - **Maximum**: 7

## Returns

- **Type**: string
- **Description**: What was given

## Safety

- **Requires Confirmation**: true
- **Sensitivity**: {sensitivity}
"""
PYTHON = "def gift_flowers(kind, days=None): return f'{kind} on {days}'"
REPLY = (
    'Gladly! [TOOL_CALL:{"id":"c1","tool":"gift_flowers",'
    '"parameters":{"kind":"rose","days":[1,2]}}]'
    '[TOOL_CALL:{"id":"c2","tool":"sell_flowers","parameters":{"kind":"rose","number":2}}]'
)


@pytest.fixture
def florist(shop):
    shop.write("tools_md/gift.tool.md", GIFT.format(sensitivity="low"))
    shop.write("tools_md/gift.py", PYTHON)
    return shop


def steady(text):
    """Put the same words for an id (12 letters, no name of a tool) and for a time."""
    timeless = re.sub(r"\d\d:\d\d:\d\d", "HH:MM:SS", text)
    return re.sub(
        r"(?<=confirm )\w{12}|^\w{12}(?=  a yes)", "ID-OF-A-CALL", timeless, flags=re.MULTILINE
    )


def held(florist):
    (one,) = json.loads(florist("pending", "--json").out)
    return one["id"]


def test_a_reply_is_handled_and_pending_calls_are_listed(florist, as_golden):
    typed = florist("handle", stdin=REPLY)
    as_golden(f"{typed.out}--\n{steady(typed.err)}", "handle.txt")
    assert typed.code == 4


def test_a_handled_reply_as_json(florist):
    typed = florist("handle", "--dialect", "inline", "--json", stdin=REPLY)
    turn = json.loads(typed.out)
    assert turn["clean_message"] == "Gladly!"
    assert [r["outcome"] for r in turn["results"]] == ["confirm", "ok"]
    assert turn["pending"][0]["id"] == held(florist)
    assert turn["pending"][0]["parameters"] == {"kind": "rose", "days": [1, 2]}
    assert turn["messages"][0]["content"].startswith("[TOOL_RESULT:")
    assert typed.code == 4


def test_yes_does_not_approve_a_review(florist):
    florist.write(
        "tools_md/gift.tool.md", GIFT.format(sensitivity="low") + "- **Crisis When**: `true`\n"
    )
    typed = florist("call", "gift_flowers", "kind=rose", "--yes")
    assert typed.code == 4
    assert "--yes" not in typed.err
    assert f"help: toolmd confirm {held(florist)}" in typed.err


@pytest.mark.parametrize(("verb", "done"), [("confirm", "rose on None"), ("reject", "")])
def test_without_an_id_the_only_call_that_waits_is_decided(florist, verb, done):
    none = florist(verb)
    assert (none.code, none.err.splitlines()[0]) == (5, "error: no call is pending")
    for kind in ("rose", "lily"):
        florist("call", "gift_flowers", f"kind={kind}")
    ids = [one["id"] for one in json.loads(florist("pending", "--json").out)]
    for words, what in ([], "2 calls wait"), (ids, "2 ids are given"):
        several = florist(verb, *words)
        assert several.code == 2
        assert f"error: {verb} decides one call, and {what}\n" in several.err
        assert all(f"\n  toolmd {verb} {one}  I'd like to" in several.err for one in ids)
    florist("reject", ids[1])
    typed = florist(verb)
    assert (typed.code, typed.out.strip()) == (0, done)
    assert typed.err.startswith(f"{ids[0]}: I'd like to gift flowers: kind: rose.")
    assert json.loads(florist("pending", "--json").out) == []


def test_yes_decides_the_same_call_of_an_earlier_command(florist):
    florist.write("tools_md/gift.py", "def gift_flowers(kind, days=None): print('GIVEN')")
    call = ("call", "gift_flowers", "kind=rose")
    for other in (("call", "gift_flowers", "kind=lily"), (*call, "--user", "ana"), call):
        assert florist(*other).code == 4
    *others, one = (each["id"] for each in json.loads(florist("pending", "--json").out))

    assert florist(*call, "--yes").err.count("GIVEN") == 1

    later = florist("confirm", one)
    assert (later.code, later.err.count("GIVEN")) == (3, 0)
    assert "denied[confirmation_used] This call was decided before: approved." in later.err
    left = [each["id"] for each in json.loads(florist("pending", "--json").out)]
    assert left == others


@pytest.mark.parametrize(
    ("reply", "words", "code"),
    [
        ("Hello.", (), 0),
        ("", (), 0),
        ('Action: {"tool": "sell_flowers", "args": {"kind": "rose", "number": 1}}', (), 0),
        ('Action: {"tool": "sell_flowers", "args": {"kind": "iris", "number": 1}}', (), 1),
        ('Action: {"tool": "sell_flowers", "args": {"kind": "rose"}}', (), 3),
        ('Action: {"tool": "sell_flowers"}', (), 3),
        ('Action: {"tool": "sell_flower_pots", "args": {}}', (), 5),
        ('Action: {"tool": "gift_flowers", "args": {"kind": "rose"}}', ("--dry-run",), 4),
        ("Hello.", ("--dialect", "klingon"), 5),
    ],
)
def test_the_worst_call_decides_the_exit_code(florist, reply, words, code):
    assert florist("handle", *words, stdin=reply).code == code
    assert florist("pending", "--json").out == "[]\n"


def test_stdin_may_contain_a_providers_json(florist):
    function = {"name": "sell_flowers", "arguments": '{"kind":"rose","number":1,"note":null}'}
    call = {"id": "call_1", "type": "function", "function": function}
    reply = {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [call]}}]}
    turn = json.loads(florist("handle", "--json", stdin=json.dumps(reply)).out)
    assert (turn["dialect"], turn["results"][0]["data"]) == ("openai", "1 x rose")
    assert turn["messages"][0]["tool_call_id"] == "call_1"


def test_at_first_no_call_is_pending(florist):
    typed = florist("pending")
    assert (typed.out, typed.err, typed.code) == ("", "No call is pending.\n", 0)


def test_pending_calls_are_listed(florist, as_golden):
    florist("handle", "--user", "ana", stdin=REPLY)
    as_golden(steady(florist("pending").out), "pending.txt")
    assert florist("pending", "--user", "ben").out == ""
    (one,) = json.loads(florist("pending", "--user", "ana", "--json").out)
    assert (one["tool"], one["tool_call_id"], one["user"]) == ("gift_flowers", "c1", "ana")
    assert one["prompt"] == ("I'd like to gift flowers: kind: rose, days: 1,2. Is this correct?")


def test_a_confirmed_call_runs_once(florist):
    florist("handle", stdin=REPLY)
    name = held(florist)
    typed = florist("confirm", name)
    assert (typed.out, typed.code) == ("rose on [1, 2]\n", 0)
    again = florist("confirm", name)
    assert (again.out, again.code) == ("", 3)
    assert "confirmation_used" in again.err


def test_arguments_may_be_changed_as_the_tool_types_them(florist):
    florist("handle", stdin=REPLY)
    name = held(florist)
    assert florist("confirm", name, "--set", "days=8").code == 3
    assert florist("confirm", name, "--set", "days").code == 2
    typed = florist("confirm", name, "--set", "days=6,7", "--set", "kind=7", "--json")
    result = json.loads(typed.out)
    assert result["data"] == "7 on [6, 7]"
    assert result["notes"] == ['The user changed kind: "rose" → "7", days: [1, 2] → [6, 7].']


def test_a_changed_critical_call_asks_once_more(florist, as_golden):
    florist.write("tools_md/gift.tool.md", GIFT.format(sensitivity="critical"))
    florist("handle", stdin=REPLY)
    first = held(florist)
    typed = florist("confirm", first, "--set", "days=6")
    as_golden(steady(typed.err), "confirm-anew.txt")
    assert typed.code == 4
    assert florist("confirm", held(florist)).out == "rose on [6]\n"


def test_a_rejected_call_never_runs(florist):
    florist("handle", stdin=REPLY)
    name = held(florist)
    typed = florist("reject", name)
    assert (typed.out, typed.err) == ("", "rejected: gift_flowers will not run\n")
    assert typed.code == 0
    assert florist("confirm", name).code == 3
    assert florist("reject", name).code == 3


def test_a_rejection_as_json_is_the_models_result(florist):
    florist("handle", stdin=REPLY)
    typed = florist("reject", held(florist), "--json")
    result = json.loads(typed.out)
    assert (result["error"]["code"], typed.code) == ("rejected", 0)


def test_a_person_answers_in_place_of_the_tool(florist):
    florist("handle", stdin=REPLY)
    name = held(florist)
    typed = florist("respond", name, "She has enough roses.")
    assert (typed.out, typed.code) == ("She has enough roses.\n", 0)
    assert florist("confirm", name).code == 3


def test_the_answer_in_place_of_a_tool_may_come_from_stdin(florist):
    florist("handle", stdin=REPLY)
    typed = florist("respond", held(florist), "-", "--json", stdin="She has roses.\nAnd tulips.\n")

    assert json.loads(typed.out)["message"] == "She has roses.\nAnd tulips."


@pytest.mark.parametrize("words", [("confirm", "x"), ("reject", "x"), ("respond", "x", "no")])
def test_a_call_that_is_not_pending_is_not_found(florist, words):
    typed = florist(*words)
    assert (typed.out, typed.code) == ("", 5)
    assert "'x'" in typed.err
    assert "help: toolmd pending lists the calls that wait" in typed.err


def test_an_unknown_run_is_not_found(florist):
    typed = florist("runs", "cancel", "x")
    assert typed.code == 5
    assert "there is no run 'x'" in typed.err


def test_a_page_of_pending_calls_names_the_next_and_json_has_all(florist):
    call = '[TOOL_CALL:{"id":"c%d","tool":"gift_flowers","parameters":{"kind":"r%d"}}]'
    for some in (range(17), range(17, 34), range(34, 51)):
        florist("handle", "--user", "ana", stdin="".join(call % (n, n) for n in some))
    page = florist("pending")
    assert page.out.count("gift flowers") == 50
    assert "help: toolmd pending --after" in page.err
    assert len(json.loads(florist("pending", "--json").out)) == 51
    assert len(json.loads(florist("pending", "--json", "--limit", "7").out)) == 7


def test_a_user_decides_over_their_own_calls_only(florist):
    florist("handle", "--user", "ana", stdin=REPLY)
    name = held(florist)
    assert florist("confirm", name, "--user", "ben").code == 5
    assert florist("confirm", name, "--user", "ana").code == 0


def test_a_dry_run_of_a_call_that_asks_prints_no_command_to_confirm(florist):
    typed = florist("call", "gift_flowers", "kind=rose", "--dry-run")
    assert "toolmd confirm" not in typed.err
    assert typed.code == 4


def test_a_wait_for_a_rate_is_shown_on_stderr_with_its_length(shop) -> None:
    text = (shop.folder / "tools_md/count-flowers.tool.md").read_text("utf-8")
    shop.write("tools_md/count-flowers.tool.md", f"{text}\n## Limits\n\n- **Rate**: 30/min\n")
    count = '[TOOL_CALL:{"id":"c%d","tool":"count_flowers","parameters":{"kinds":["rose"]}}]'
    typed = shop("handle", "--json", stdin=count % 1 + count % 2)
    assert [result["outcome"] for result in json.loads(typed.out)["results"]] == ["ok", "ok"]
    assert re.fullmatch(r"count_flowers waits [12]\.\d s, because of its Rate\n", typed.err)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_state_folder_that_is_not_utf_8_keeps_records_as_any_other(florist) -> None:
    state = os.fsdecode(os.fsencode(florist.folder) + b"/caf\xe9")
    florist.write("toolmd.toml", "plugins = []\n")

    held = run_command(
        florist.folder,
        "call",
        "gift_flowers",
        "kind=rose",
        TOOLMD_STATE=state,
        TOOLMD_STORE="sqlite",
    )
    listed = run_command(
        florist.folder, "pending", "--json", TOOLMD_STATE=state, TOOLMD_STORE="sqlite"
    )

    assert (held.code, listed.code) == (4, 0), (held, listed)
    assert len(json.loads(listed.out)) == 1
