"""`import`: what restricts in a source and no field holds waits for a decision in its draft."""

import json

import pytest

from toolmd._cli.verbs.importing import merge
from toolmd._types.imported import Note

FUNCTION = {
    "name": "delete_account",
    "description": "Delete an account.",
    "parameters": {
        "type": "object",
        "properties": {"id": {"type": "string"}},
        "required": ["id"],
        "additionalProperties": False,
    },
}


def tool(**more) -> dict:
    return {"type": "function", "function": FUNCTION, **more}


def imported(shop, document):
    shop.write("tools.json", json.dumps(document))
    typed = shop("import", "openai", "tools.json")
    assert typed.code == 0, typed.err
    return typed


def safety(shop) -> dict:
    shown = shop("show", "delete_account", "--json")
    assert shown.code == 0, shown.err
    return json.loads(shown.out)["safety"]


RESTRICTED = {"requiresConfirmation": True, "sensitivity": "critical", "minConfidence": 0.95}


@pytest.mark.parametrize(
    "document",
    [
        [tool(**RESTRICTED)],
        [{**FUNCTION, **RESTRICTED}],
        [tool(policy=RESTRICTED)],
        {"tools": [tool()], "TOOL_VALIDATION_RULES": {"delete_account": RESTRICTED}},
        {"tools": [tool()], **RESTRICTED},
        [tool(requires_confirmation=True, sensitivity="critical", min_confidence=0.95)],
        [tool(needsApproval=True, sensitivity="critical", minConfidence=0.95)],
    ],
    ids=["beside", "within", "deeper", "by name", "for all", "snake case", "another host's word"],
)
def test_each_restriction_of_a_source_is_in_force_in_its_draft(shop, document) -> None:
    imported(shop, document)

    found = safety(shop)
    assert (found["requires_confirmation"], found["sensitivity"]) == (True, "critical")
    assert found["min_confidence"] == 0.95


@pytest.mark.parametrize(
    "keys",
    [
        {"minConfidence": "high"},
        {"requiresConfirmation": "sometimes"},
        {"sensitivity": "dangerous"},
        {"explicitIntentRequired": True},
        {"requiresConfirmaton": True},
        {"permissions": ["admin"]},
        {"rateLimit": {"calls": 3}},
    ],
    ids=lambda keys: next(iter(keys)),
)
@pytest.mark.parametrize("place", ["tool", "document"])
def test_a_restriction_that_can_not_be_read_makes_the_draft_fail(shop, keys, place) -> None:
    document = [tool(**keys)] if place == "tool" else {"tools": [tool()], "rules": [keys]}
    typed = imported(shop, document)

    assert "`check` fails until you decide" in typed.err
    checked = shop("check")
    assert checked.code == 1
    assert shop("call", "delete_account", "id=7").code != 0


def test_any_other_key_is_counted_in_the_result(shop) -> None:
    document = {"tools": [tool(owner="ana", cost=3)], "model": "m"}
    typed = imported(shop, document)

    assert 'delete_account: `owner` is not kept: "ana"' in typed.err
    assert "delete_account: `cost` is not kept: 3" in typed.err
    assert '`model` is not kept: "m"' in typed.err
    assert shop("check").code == 0


def test_a_key_that_stands_twice_is_an_error_of_the_source(shop) -> None:
    text = json.dumps([tool(requiresConfirmation=True)])
    shop.write("tools.json", text.replace('"requires', '"requiresConfirmation": false, "requires'))
    typed = shop("import", "openai", "tools.json")

    assert typed.code == 1
    assert "occurs twice" in typed.err


def test_a_key_that_each_draft_loses_takes_one_line(shop) -> None:
    names = [f"order_{number}" for number in range(7)]
    shop.write(
        "tools.json",
        json.dumps([{**FUNCTION, "name": one, "url": f"https://docs/{one}"} for one in names]),
    )
    typed = shop("import", "openai", "tools.json")
    lines = [line for line in typed.err.splitlines() if "`url` is not kept" in line]

    where = "(order_0, order_1, order_2 and 4 more); --json has each"
    assert lines == [f'note: 7 × `url` is not kept: "https://docs/order_0" {where}']
    told = json.loads(shop("import", "openai", "tools.json", "--force", "--json").out)
    assert sum("`url` is not kept" in note["text"] for note in told["notes"]) == 7


def test_the_notes_of_an_import_fit_on_one_screen() -> None:
    many = [Note(f"t{at}", "", f"called 'T-{at}' in the source") for at in range(300)]
    lost = [Note("a", "", f"`x{at}` is not kept: {'9' * 500}", 3) for at in range(40)]
    decide = Note("b", "", "`check` fails until you decide: Secret: true")

    lines = [*merge([*many, *lost, decide])]

    assert lines[0] == str(decide)
    assert lines[1].startswith("300 × called 'T-0' in the source (t0, t1, t2 and 297 more)")
    assert lines[-1] == "and 29 more: --json has all"
    assert len(lines) == 14
    assert all(len(line) < 200 for line in lines)


def test_few_notes_of_a_kind_stay_apart() -> None:
    notes = [Note("a", "", f"`x` is not kept: {at}", at) for at in (1, 2, 3)]

    assert [*merge(notes)] == [f"line {at}: a: `x` is not kept: {at}" for at in (1, 2, 3)]
