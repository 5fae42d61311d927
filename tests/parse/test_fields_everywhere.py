"""A line that looks like a field is read or reported; a restriction restricts or is an error."""

import pytest
from field_places import HIDDEN, PLACES, WAYS, Place, enforced, policy, read
from hypothesis import example, given, settings
from hypothesis import strategies as st

from toolmd._parse.fields.table import PARAMETER, TABLES

VALUE = {
    "Requires Confirmation": "yes",
    "Min Confidence": "0.9",
    "Requires Auth": "yes",
    "Requires Context": "patient",
    "Requires Patient Context": "yes",
    "Sensitivity": "critical",
    "Explicit Intent": "yes",
    "Intent Keywords": "pay, wage",
    "Confirm When": "`amount > 5.0`",
    "Crisis When": "`amount > 5.0`",
    "Allowed Domains": "bank.example",
    "Max Calls": "3",
    "Max Rows": "10",
    "Max Bytes": "64KB",
    "Rate": "3/s",
    "Timeout": "10s",
    "Sensitive": "yes",
    "Allowed Roles": "nurse, ward_doctor",
    "Quota": "3 calls per user per day",
    "Allowed Hours": "Mon-Fri 08:00-18:00",
    "On Missing Confidence": "confirm",
    "Max Concurrent": "3",
    "Given": "order from get_order",
    "Disable Model Invocation": "yes",
    "Required Tools": "pay_wage",
    "Allowed Tools": "pay_wage",
    "Disallowed Tools": "Write",
    "Model Invocation": "no",
    "User Invocable": "no",
    "Ask": "Really pay {amount}?",
    "If no": 'stop "No."',
    "Check": "`amount < 5.0`",
    "When": "`amount > 5.0`",
}
"""A value of each restriction."""
ROWS = {
    row.name: row
    for table in (PARAMETER, *TABLES["tool"], *TABLES["skill"])
    for row in table.fields
    if row.restricts
}


def spellings(name: str) -> list[str]:
    """Return the names of a row in several cases, and a slip of a long one."""
    words = name.split()
    forms = [name.upper(), "_".join(words).lower(), "-".join(words).lower()]
    forms.append(words[0].lower() + "".join(words[1:]).title().replace(" ", ""))
    if name not in ROWS:
        return [name, *forms]
    slip = [f"{name[:-3]}{name[-2]}{name[-3]}{name[-1]}"] if len(name) > 8 else []
    return [*ROWS[name].names, *forms, *slip]


SPELLINGS = {name: (value, spellings(name)) for name, value in VALUE.items()}
OF_STEPS = {"Ask", "If no", "Check", "When"}
OF_WORKFLOWS = {
    *("workflow", "step", "documentation step", "below a bullet of a step", "between steps"),
    *("step of a section", "workflow section"),
}
OF_SKILLS = OF_STEPS | {
    *(
        "Required Tools",
        "Required Skills",
        "Allowed Tools",
        "Disallowed Tools",
        "User Invocable",
        "Disable Model Invocation",
    )
}
DEFAULTS_TO_YES = {
    spelling for name in ("Model Invocation", "User Invocable") for spelling in SPELLINGS[name][1]
}
HAVE_FIELDS = [
    place
    for place in PLACES
    if place.name
    in {
        *("metadata top", "metadata", "parameter", "properties", "items", "returns top"),
        *("returns", "returned field", "rules", "safety", "limits", "example", "input"),
        *("output schema", "step", "documentation step", "step of a section"),
    }
]
KEYS = st.one_of(
    st.sampled_from([name for _, names in SPELLINGS.values() for name in names]),
    st.sampled_from(["Zqxv", "Zqxv Word", "zqxv_word", "zqxvWord", "Type", "Tags", "Enum", "Use"]),
)
VALUES = st.sampled_from(["yes", "3", "some words about it", "`amount > 5.0`", "10s", "a, b"])


@pytest.mark.parametrize("kind", ["tool", "skill"])
def test_the_files_without_inserted_lines_have_no_findings(kind):
    spec, diagnostics = read(Place(kind, ""), Place(kind, "").text()[0])
    assert spec is not None
    assert not diagnostics


@settings(max_examples=3 * settings.default.max_examples)
@given(st.sampled_from(HAVE_FIELDS), KEYS, VALUES, st.sampled_from([*WAYS.values()]))
@example(Place("skill", "metadata top"), "User Invocable", "yes", WAYS["bold"])
def test_a_bullet_with_a_key_is_a_field_or_is_reported(place, key, value, way):
    text, lines = place.text(way.format(key=key, value=value))
    spec, diagnostics = read(place, text)
    if any(d.span.line <= lines[-1] and d.span.end_line >= lines[0] for d in diagnostics):
        return
    before, _ = read(place, place.text()[0])
    assert spec is not None
    if key in DEFAULTS_TO_YES and value == "yes":
        assert enforced(spec) == enforced(before)
        return
    assert enforced(spec) != enforced(before) or spec.canonical != before.canonical != {}, text
    assert enforced(spec) != enforced(before) or key in {"Type", "Tags", "Enum", "Use"}, text


RESTRICTIONS = st.sampled_from(sorted(SPELLINGS)).flatmap(
    lambda name: st.tuples(st.just(name), st.sampled_from(SPELLINGS[name][1]))
)


@settings(max_examples=5 * settings.default.max_examples)
@given(st.sampled_from(PLACES), RESTRICTIONS, st.sampled_from(sorted(WAYS | HIDDEN)))
def test_a_restriction_in_any_place_and_spelling_restricts_or_is_an_error(place, which, way):
    name, spelling = which
    if (place.kind == "tool" and name in OF_SKILLS) or (way in HIDDEN and place.kind == "skill"):
        return
    restricts_or_fails(place, name, spelling, {**WAYS, **HIDDEN}[way])


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_each_restriction_in_each_place_restricts_or_is_an_error(place):
    for name in SPELLINGS:
        if place.kind == "skill" or name not in OF_SKILLS:
            restricts_or_fails(place, name, name, WAYS["bold"])


def restricts_or_fails(place: Place, name: str, spelling: str, way: str) -> None:
    if name in OF_STEPS and place.name not in OF_WORKFLOWS:
        return  # elsewhere a step's key is prose
    text, _ = place.text(way.format(key=spelling, value=SPELLINGS[name][0]))
    spec, diagnostics = read(place, text)
    if spec is None:
        assert any(d.severity == "error" for d in diagnostics)
        return
    before, _ = read(place, place.text()[0])
    assert policy(spec) != policy(before), text
