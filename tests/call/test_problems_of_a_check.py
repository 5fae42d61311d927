"""A check that fails reports every problem that it found."""

import pytest

from toolmd._call.audit.reader import AuditReader
from toolmd._types.call_spec import Safety
from toolmd._types.schema import Parameter, Schema
from toolmd._types.settings import SafetySettings, Settings

PORT = Parameter(name="port", shape=Schema(types=("string",), verbatim=True), required=True)
TELLS = {"intent_keywords": ("sail",), "explicit_intent": True}


async def sail(port=""):
    return {"port": port}


@pytest.fixture
def harbour(harness, tool, tmp_path):
    """Make a door before `sail`, with these fields of its file."""

    def make(**fields):
        settings = Settings(root=tmp_path, state=tmp_path,
                            safety=SafetySettings(crisis_words=("mayday",),
                                                 crisis_message="Call 112."))  # fmt: skip
        return harness(tool("sail", sail, PORT, **fields), settings=settings)

    return make


def codes(result):
    return [problem.code for problem in result.error.details]


def test_a_call_without_user_and_patient_is_denied_with_both(harbour):
    dispatcher = harbour(requires_auth=True, requires_context=("patient",))
    both = dispatcher.call("sail", {"port": "Brest"})
    assert both.error.code == "auth_required"
    assert codes(both) == ["auth_required", "context_required"]
    assert "user" in both.error.message
    assert "patient" in both.error.message
    one = dispatcher.call("sail", {"port": "Brest"}, user="ana")
    assert (one.error.code, codes(one)) == ("context_required", [])


def test_a_message_without_intent_and_a_value_is_denied_with_both(harbour):
    dispatcher = harbour(safety=Safety(**TELLS))
    both = dispatcher.call("sail", {"port": "Brest"}, message="Where is the harbour?")
    assert both.error.code == "no_explicit_intent"
    assert codes(both) == ["no_explicit_intent", "not_stated_by_user"]
    assert [problem.path for problem in both.error.details] == ["", "port"]
    uncertain = dispatcher.call("sail", {"port": "Brest"}, message="What if we sail?")
    assert codes(uncertain) == ["not_stated_by_user", "no_explicit_intent"]
    intended = dispatcher.call("sail", {"port": "Brest"}, message="Let us sail.")
    assert (intended.error.code, codes(intended)) == ("not_stated_by_user", ["not_stated_by_user"])
    stated = dispatcher.call("sail", {"port": "Brest"}, message="Brest is nice.")
    assert stated.error.code == "no_explicit_intent"
    assert dispatcher.call("sail", {"port": "Brest"}, message="Let us sail to brest.").success


def test_a_review_and_its_record_list_every_reason(harbour, tmp_path):
    dispatcher = harbour(safety=Safety(crisis_when="port == 'Brest'"))
    reasons = []
    for port, message in (("Brest", "Brest"), ("Nice", "mayday, Nice"), ("Brest", "mayday, Brest")):
        result = dispatcher.call("sail", {"port": port}, message=message, user=message)
        assert result.outcome == "review"
        reasons.append(result.message)
    assert reasons[2] == f"{reasons[1]} {reasons[0]}"
    records = AuditReader(Settings(root=tmp_path, state=tmp_path)).records()
    assert [one.record["reason"] for one in records] == reasons


def test_a_failed_check_reports_nothing_of_later_checks(harbour):
    dispatcher = harbour(requires_auth=True, safety=Safety(**TELLS, min_confidence=0.5))
    assert codes(dispatcher.call("sail", {"port": 1})) == []
    assert codes(dispatcher.call("sail", {"port": 1}, user="ana", confidence=0.4)) == ["wrong_type"]


def test_low_confidence_and_missing_intent_are_reported_together(harbour):
    dispatcher = harbour(safety=Safety(**TELLS, min_confidence=0.5))
    both = dispatcher.call("sail", {"port": "Brest"}, message="Brest is nice.", confidence=0.4)
    assert (both.error.code, codes(both)) == (
        "low_confidence",
        ["low_confidence", "no_explicit_intent"],
    )


def test_a_denial_is_reported_before_what_a_person_could_confirm(harbour):
    dispatcher = harbour(
        safety=Safety(**TELLS, min_confidence=0.5, on_missing_confidence="confirm")
    )
    both = dispatcher.call("sail", {"port": "Brest"}, message="Brest is nice.")
    assert (both.outcome, both.error.code) == ("denied", "no_explicit_intent")
    assert codes(both) == ["no_explicit_intent", "missing_confidence"]


def test_a_result_of_a_crisis_begins_with_the_message_of_the_project(harbour):
    dispatcher = harbour()
    for tool, message, notes in (
        ("sail", "Mayday, to Brest!", ("Call 112.",)),
        ("row", "Mayday!", ("Call 112.",)),
        ("sail", "To Brest!", ()),
    ):
        result = dispatcher.call(tool, {"port": "Brest"}, message=message)
        assert result.notes == notes, (tool, message)
