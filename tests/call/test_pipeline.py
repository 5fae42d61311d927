"""The call pipeline: lookup, context, arguments, rules and the run."""

import asyncio
import json
import threading

import pytest

from toolmd._call.audit import recorder
from toolmd._types.call import Call, Caller
from toolmd._types.call_spec import Rule
from toolmd._types.schema import Parameter, Schema
from toolmd._types.settings import Settings
from toolmd._validation import ArgumentsValidator

GOOD = {"child_names": ["Ada"], "appointment_time": "2026-03-05T09:00", "appointment_type": "exam"}
INTEGER = Schema(types=("integer",))


async def book(child_names, appointment_time, appointment_type):
    return {"booking_id": "b1", "children": child_names}


@pytest.fixture
def clinic(harness, tool, seed_booking):
    return harness(tool("book_appointment", book, *seed_booking))


@pytest.mark.parametrize(
    "arguments",
    [GOOD, json.dumps(GOOD), json.dumps(GOOD).encode()],
    ids=["object", "text", "bytes"],
)
def test_a_valid_call_returns_the_functions_result(clinic, arguments):
    for _ in range(2):
        result = clinic.call("book_appointment", arguments, call_id="call-1")
        shown = result.to_dict()
        assert shown.pop("duration_ms") >= 0
        assert shown == {
            "success": True,
            "tool_call_id": "call-1",
            "tool": "book_appointment",
            "outcome": "ok",
            "data": {"booking_id": "b1", "children": ["Ada"]},
            "attempts": 1,
            "crisis": False,
        }


def test_a_call_without_a_required_argument_names_it(clinic):
    for _ in range(2):
        error = clinic.call("book_appointment", '{"appointment_type": "exm"}').error
        assert error.code == "invalid_arguments"
        assert [(p.code, p.path) for p in error.details] == [
            ("missing_argument", "child_names"),
            ("missing_argument", "appointment_time"),
            ("not_in_enum", "appointment_type"),
        ]
        clinic.call("book_appointment", json.dumps(GOOD))


def test_an_unknown_tool_is_answered_with_the_nearest_names(clinic):
    error = clinic.call("book_apointment").error
    assert error.code == "unknown_tool"
    assert "book_appointment" in error.message


@pytest.mark.parametrize("odd", ["a\0b", "a\ud800"])
@pytest.mark.parametrize("part", ["user", "conversation", "call_id", "roles", "context"])
def test_a_name_that_a_store_cannot_hold_is_denied(clinic, part, odd):
    named = {"roles": (odd,), "context": {"patient": odd}}.get(part, odd)
    result = clinic.call("book_appointment", GOOD, **{part: named})
    assert (result.outcome, result.error.code) == ("denied", "malformed_call")


def test_a_field_of_the_caller_that_does_not_fit_is_named(clinic):
    error = clinic.call("book_appointment", GOOD, user=5).error
    assert (error.code, error.message.partition(":")[0]) == ("malformed_call", "user")
    assert clinic.call("book_appointment", GOOD, roles=["nurse"]).success


MALFORMED = ["", "[]", "{", '{"a": NaN}', '{"child_names": [], "child_names": []}', "[" * 90_000]


@pytest.mark.parametrize("text", MALFORMED)
@pytest.mark.parametrize("name", ["book_appointment", "unknown"])
def test_malformed_text_is_denied_first(clinic, text, name):
    clinic.call("book_appointment", json.dumps(GOOD))
    result = clinic.call(name, text)
    assert (result.outcome, result.error.code) == ("denied", "malformed_call")


def test_a_duplicate_key_never_passes_the_fast_path(clinic):
    text = json.dumps(GOOD)
    clinic.call("book_appointment", text)
    twice = text.replace("{", '{"appointment_type" : "exam", ')
    assert clinic.call("book_appointment", twice).error.code == "malformed_call"
    escaped = text.replace("{", '{"appointment_typ\\u0065": "exam", ')
    assert clinic.call("book_appointment", escaped).error.code == "malformed_call"
    assert clinic.call("book_appointment", text.replace("Ada", 'A\\"da')).data["children"] == [
        'A"da'
    ]


@pytest.mark.parametrize("confidence", [1.5, -0.1, True, "0.9", float("nan")])
def test_a_confidence_that_is_not_a_number_from_0_to_1_is_malformed(clinic, confidence):
    result = clinic.call("book_appointment", GOOD, confidence=confidence)
    assert result.error.code == "malformed_call"


def test_a_tool_that_requires_a_user_and_a_patient_is_denied_without(harness, tool, seed_booking):
    clinic = harness(
        tool("book", book, *seed_booking, requires_auth=True, requires_context=("patient",))
    )
    text = json.dumps(GOOD)
    for _ in range(2):
        assert clinic.call("book", text).error.code == "auth_required"
        assert clinic.call("book", text, context={"patient": "p1"}).error.code == "auth_required"
        assert clinic.call("book", "{}", user="u1").error.code == "context_required"
        assert clinic.call("book", text, user="u1", context={"patient": ""}).error.code == (
            "context_required"
        )
        assert clinic.call("book", "{", user="").error.code == "malformed_call"
        assert clinic.call("book", text, user="u1", context={"patient": "p1"}).success


def test_a_dry_run_stops_before_the_run(harness, tool):
    ran = []

    async def note(text):
        ran.append(text)

    notes = harness(tool("note", note, Parameter(name="text", shape=Schema(), required=True)))
    for _ in range(2):
        result = notes.call("note", '{"text": "a"}', dry_run=True)
        assert (result.success, result.outcome, result.attempts) == (True, "allowed", 0)
        assert "data" not in result.to_dict()
        assert notes.call("note", "{}", dry_run=True).error.code == "invalid_arguments"
    assert ran == []


def test_a_tool_without_an_implementation_says_so(harness, tool):
    result = harness(tool("later")).call("later")
    assert (result.outcome, result.error.code) == ("failed", "not_implemented")
    assert result.attempts == 0
    assert "later.tool.md" in result.error.message


def pressure(harness, tool, *rules):
    async def log(systolic, diastolic=None):
        return {"systolic": systolic}

    return harness(
        tool(
            "log",
            log,
            Parameter(name="systolic", shape=INTEGER, required=True),
            Parameter(name="diastolic", shape=INTEGER),
            rules=tuple(Rule(expression=e, message=m) for e, m in rules),
        )
    )


RULE = ("diastolic < systolic", "Diastolic must be below systolic.")


def test_a_false_rule_denies_with_the_authors_message(harness, tool):
    log = pressure(harness, tool, RULE, ("systolic > 100", "Too low."))
    assert log.call("log", {"systolic": 120, "diastolic": 80}).success
    error = log.call("log", {"systolic": 80, "diastolic": 120}).error
    assert error.code == "invalid_arguments"
    assert [p.code for p in error.details] == ["rule_broken", "rule_broken"]
    assert error.message == "Diastolic must be below systolic. Too low."


def test_a_rule_that_cannot_be_computed_denies(harness, tool):
    error = pressure(harness, tool, RULE).call("log", {"systolic": 120}).error
    assert (error.code, error.details[0].code) == ("invalid_arguments", "rule_not_computable")
    assert "it needs `diastolic`" in error.message


@pytest.mark.parametrize("expression", ["systolic +", "nothing > 1", "systolic"])
def test_an_invalid_rule_denies_every_call(harness, tool, expression):
    log = pressure(harness, tool, (expression, "?"))
    for _ in range(2):
        result = log.call("log", {"systolic": 120, "diastolic": 80})
        assert result.outcome == "denied"
        assert result.error.code in {"internal_guard_error", "invalid_arguments"}


def test_an_invalid_pattern_denies_every_call(harness, tool):
    broken = Parameter(name="a", shape=Schema(types=("string",), pattern="(a"))

    async def never(a=None):
        raise AssertionError

    result = harness(tool("never", never, broken)).call("never")
    assert (result.outcome, result.error.code) == ("denied", "internal_guard_error")


def test_ignored_parameters_are_dropped_and_reported(harness, tool):
    async def scan(limit):
        return {"limit": limit}

    parameter = Parameter(name="limit", shape=INTEGER, required=True)
    scanner = harness(tool("scan", scan, parameter, unknown_parameters="ignore"))
    result = scanner.call("scan", '{"limit": 3, "colour": "red"}')
    assert result.data == {"limit": 3}
    assert result.notes == ("Ignored, because the tool does not know them: colour.",)


def test_independent_calls_run_at_once_and_keep_their_order(harness, tool):
    async def main():
        met = asyncio.Barrier(3)

        async def meet(number):
            await met.wait()
            return number

        async def fail(number):
            await met.wait()
            raise RuntimeError

        number = Parameter(name="number", shape=INTEGER, required=True)
        dispatcher = harness(tool("meet", meet, number), tool("fail", fail, number)).dispatcher
        calls = [Call("meet", {"number": 1}, "a"), Call("fail", {"number": 2}, "b"),
                 Call("meet", {"number": 3}, "c"), Call("unknown", {}, "d")]  # fmt: skip
        return await asyncio.gather(*map(dispatcher.dispatch, calls))

    results = asyncio.run(main())
    assert [(r.tool_call_id, r.outcome) for r in results] == [
        ("a", "ok"), ("b", "failed"), ("c", "ok"), ("d", "denied"),
    ]  # fmt: skip


def test_the_patient_of_a_call_comes_from_the_host_alone(harness, tool):
    async def whose(patient_id, context):
        return {
            "argument": patient_id,
            "context": context.facts.get("patient"),
            "user": context.user,
        }

    parameter = Parameter(name="patient_id", shape=Schema(types=("string",)), required=True)
    whose_tool = harness(tool("whose", whose, parameter, context="context"))
    call = Call("whose", {"patient_id": "p2"}, caller=Caller("u1", {"patient": "p1"}))
    assert asyncio.run(whose_tool.dispatcher.dispatch(call)).data == {
        "argument": "p2",
        "context": "p1",
        "user": "u1",
    }


ROWS = {"rows": [{"id": number, "name": f"row {number}"} for number in range(5000)]}


@pytest.mark.parametrize(
    ("arguments", "thread"),
    [
        ({"rows": [{"id": 1}]}, "MainThread"),
        (json.dumps(ROWS), "toolmd-around"),
        (json.dumps(ROWS).encode(), "toolmd-around"),
        (ROWS, "toolmd-around"),
        ({"rows": [{"text": "x" * 100_000}]}, "toolmd-around"),
        ({"rows": [{"a": {"b": [[1] * 5000]}}]}, "toolmd-around"),
    ],
    ids=["small", "text", "bytes", "object", "long text", "deep"],
)
def test_a_thread_reads_and_records_large_arguments(
    monkeypatch, tmp_path, harness, tool, arguments, thread
):
    threads = []

    def note_thread(module, name):
        real = getattr(module, name)

        def note(*values):
            threads.append(threading.current_thread().name)
            return real(*values)

        monkeypatch.setattr(module, name, note)

    note_thread(ArgumentsValidator, "validate")
    note_thread(recorder, "_json")
    shape = Schema(types=("array",), items=Schema(types=("object",)))
    settings = Settings(root=tmp_path, store="memory")
    world = harness(tool("put", lambda rows: [*rows], Parameter("rows", shape)), settings=settings)

    assert world.call("put", arguments).success
    assert len(threads) > 1
    assert {*threads} == {thread}
