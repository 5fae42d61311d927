"""A line that looks like a field is read or reported; a restriction restricts or is an error."""

import pytest
from field_places import HIDDEN, PLACES, WAYS, Place, enforced, policy, read
from hypothesis import example, given, settings
from hypothesis import strategies as st

SPELLINGS = {
    "Requires Confirmation": (
        "yes",
        (
            "Requires Confirmation|requires_confirmation|requiresConfirmation|"
            "Require Confirmation|Confirmation Required|Needs Confirmation|"
            "Requires Approval|Confirm"
        ),
    ),
    "Min Confidence": (
        "0.9",
        (
            "Min Confidence|min_confidence|minConfidence|Minimum Confidence|"
            "Confidence Threshold|Confidence|Required Confidence|Confidence Min"
        ),
    ),
    "Requires Auth": (
        "yes",
        (
            "Requires Auth|requires_auth|requiresAuth|Require Auth|Auth Required|"
            "Requires Authentication|Authentication Required|Auth"
        ),
    ),
    "Requires Context": (
        "patient",
        (
            "Requires Context|requires_context|requiresContext|Require Context|"
            "Context Required|Required Context|Needs Context|Context"
        ),
    ),
    "Requires Patient Context": (
        "yes",
        (
            "Requires Patient Context|requires_patient_context|requiresPatientContext|"
            "Require Patient Context|Patient Context Required|Patient Context|"
            "Requires Patient|Needs Patient Context"
        ),
    ),
    "Sensitivity": (
        "critical",
        (
            "Sensitivity|sensitivity|SENSITIVITY|Sensitivity Level|sensitivity_level|"
            "Data Sensitivity|Risk Level|Sensitivty"
        ),
    ),
    "Explicit Intent": (
        "yes",
        (
            "Explicit Intent|explicit_intent|explicitIntent|Explicit Intent Required|"
            "Requires Explicit Intent|Require Explicit Intent|Needs Explicit Intent|"
            "Explicit User Intent"
        ),
    ),
    "Intent Keywords": (
        "pay, wage",
        (
            "Intent Keywords|intent_keywords|intentKeywords|Intent Keyword|Intent Words|"
            "Explicit Intent Keywords|Keywords For Intent|Intent Keywrods"
        ),
    ),
    "Confirm When": (
        "`amount > 5.0`",
        (
            "Confirm When|confirm_when|confirmWhen|Confirm If|Confirmation When|"
            "Requires Confirmation When|Require Confirmation If|Ask When"
        ),
    ),
    "Escalate When": (
        "`amount > 5.0`",
        (
            "Escalate When|escalate_when|escalateWhen|Escalate If|Escalation When|"
            "Escalate|Review When|Escalate To Human When"
        ),
    ),
    "Allowed Domains": (
        "bank.example",
        (
            "Allowed Domains|allowed_domains|allowedDomains|Allowed Domain|Allowed Hosts|"
            "Domains|Domain Allowlist|Whitelisted Domains"
        ),
    ),
    "Max Calls": (
        "3",
        (
            "Max Calls|max_calls|maxCalls|Maximum Calls|Max Call|Call Limit|"
            "Max Number Of Calls|Max Calls Per Conversation"
        ),
    ),
    "Max Rows": (
        "10",
        "Max Rows|max_rows|maxRows|Maximum Rows|Max Row|Row Limit|Max Number Of Rows|Limit Rows",
    ),
    "Max Bytes": (
        "64KB",
        "Max Bytes|max_bytes|maxBytes|Maximum Bytes|Max Byte|Max Size|Size Limit|Byte Limit",
    ),
    "Rate": (
        "3/s",
        "Rate|rate|RATE|Rate Limit|rate_limit|rateLimit|Max Rate|Rate Limits",
    ),
    "Timeout": (
        "10s",
        "Timeout|timeout|TIMEOUT|Time Out|Time Limit|Max Time|Timeouts|Call Timeout",
    ),
    "Sensitive": (
        "yes",
        "Sensitive|sensitive|SENSITIVE|Sensitve",
    ),
    "Required Tools": (
        "pay_wage",
        (
            "Required Tools|required_tools|requiredTools|Requires Tools|Require Tools|"
            "Required Tool|Tools Required|required-tools"
        ),
    ),
    "Allowed Tools": (
        "pay_wage",
        "Allowed Tools|allowed_tools|allowedTools|allowed-tools|ALLOWED TOOLS|Tools Allowed",
    ),
    "Disallowed Tools": (
        "Write",
        "Disallowed Tools|disallowed_tools|disallowedTools|disallowed-tools|Forbidden Tools",
    ),
    "Model Invocation": (
        "no",
        "Model Invocation|model_invocation|modelInvocation|model-invocation|MODEL INVOCATION",
    ),
    "User Invocable": (
        "no",
        "User Invocable|user_invocable|userInvocable|user-invocable|USER INVOCABLE",
    ),
    "Ask": (
        "Really pay {amount}?",
        "Ask|ask|ASK|Confirm|Approve|Approval|Ask The User|Confirmation",
    ),
    "If no": (
        'stop "No."',
        "If no|if_no|ifNo|If No|On No|If Rejected|If Declined|On Rejection",
    ),
    "Check": (
        "`amount < 5.0`",
        "Check|check|CHECK|Assert|Verify|Ensure|Validate|Must Hold",
    ),
    "When": (
        "`amount > 5.0`",
        "When|when|WHEN|If|Only If|Condition|Unless|Only When",
    ),
}
"""Each restriction with a value and the common spellings of its name."""
OF_STEPS = {"Ask", "If no", "Check", "When"}
OF_WORKFLOWS = {
    *("workflow", "step", "documentation step", "below a bullet of a step", "between steps"),
    *("step of a section", "workflow section"),
}
OF_SKILLS = OF_STEPS | {
    *("Required Tools", "Allowed Tools", "Disallowed Tools", "Model Invocation", "User Invocable")
}
DEFAULTS_TO_YES = {
    spelling
    for name in ("Model Invocation", "User Invocable")
    for spelling in SPELLINGS[name][1].split("|")
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
    st.sampled_from([name for _, names in SPELLINGS.values() for name in names.split("|")]),
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
    lambda name: st.tuples(st.just(name), st.sampled_from(SPELLINGS[name][1].split("|")))
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
