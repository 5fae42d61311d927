"""The policy checks: confidence, intent, review, confirmation, guards and limits."""

import asyncio
import itertools
from pathlib import Path
from types import SimpleNamespace

import pytest

from toolmd._types.call import Call, Caller
from toolmd._types.call_spec import Safety
from toolmd._types.schema import Parameter, Schema
from toolmd._types.settings import AuditSettings, SafetySettings, Settings
from toolmd._types.verdict import ALLOWED, Action, Verdict

TEXT = Schema(types=("string",))
NUMBER = Parameter(name="number", shape=Schema(types=("integer",)))
STRICTNESS = ["ok", "confirm", "review", "denied"]


async def nothing(number=0):
    return {}


def settings(tmp_path, **safety):
    return Settings(
        root=tmp_path,
        state=tmp_path,
        audit=AuditSettings(enabled=False),
        safety=SafetySettings(**safety),
    )


@pytest.fixture
def outcome(harness, tool, tmp_path):
    """Call a tool of this Safety under these settings; give the outcome and its code."""

    def call(safety=None, arguments="{}", *, project=None, guards=(), default_min=None, **context):
        made = tool("act", nothing, NUMBER, safety=Safety(**(safety or {})))
        made.default_min = default_min
        dispatcher = harness(made, settings=settings(tmp_path, **(project or {})),
                       guards=lambda _: guards)  # fmt: skip
        result = dispatcher.call("act", arguments, **context)
        return result.outcome, result.error.code if result.error else None

    return call


SEEDS = {"log_blood_pressure": 0.7, "log_hydration": 0.7, "schedule_reminder": 0.8,
         "log_doctor_visit": 0.8, "add_clinical_date": 0.8, "add_care_log": 0.9,
         "get_today_summary": 0.5}  # fmt: skip


@pytest.mark.parametrize("name", SEEDS)
def test_each_threshold_of_the_seeds_passes_at_itself_and_above(outcome, name):
    least = SEEDS[name]
    low, missing = ("denied", "low_confidence"), ("denied", "missing_confidence")
    expected = {least: ("ok", None), least - 0.01: low, 1: ("ok", None), 0: low, None: missing}
    for confidence, wanted in expected.items():
        assert outcome({"min_confidence": least}, confidence=confidence) == wanted


@pytest.mark.parametrize(
    ("own", "package", "default", "floor", "least"),
    [
        (0.5, None, 0.7, None, 0.5),
        (None, None, 0.7, None, 0.7),
        (None, 0.6, 0.7, None, 0.6),
        (0.5, 0.6, 0.7, 0.8, 0.8),
        (None, None, None, 0.3, 0.3),
        (0.9, None, None, 0.3, 0.9),
        (0.0, None, 0.7, None, 0.0),
    ],
)
def test_the_floor_is_hard_and_default_min_is_for_silent_tools(
    outcome, own, package, default, floor, least
):
    project = {"default_min": default, "floor": floor}
    for confidence, passes in ((least, True), (max(least - 0.01, 0), least == 0), (None, False)):
        got, _ = outcome({"min_confidence": own}, project=project, default_min=package,
                         confidence=confidence)  # fmt: skip
        assert (got == "ok") == passes


def test_a_tool_without_a_threshold_asks_for_no_confidence(outcome):
    assert outcome() == outcome(confidence=0.0) == ("ok", None)


def test_a_missing_confidence_may_ask_the_user_instead(outcome):
    project = {"on_missing_confidence": "confirm"}
    assert outcome({"min_confidence": 0.7}, project=project) == ("confirm", None)
    assert outcome({"min_confidence": 0.7}, project=project, confidence=0.1)[0] == "denied"


def test_a_files_rule_for_a_missing_confidence_overrides_the_projects(outcome):
    asks = {"min_confidence": 0.7, "on_missing_confidence": "confirm"}
    assert outcome(asks) == ("confirm", None)
    denies = {"min_confidence": 0.7, "on_missing_confidence": "deny"}
    project = {"on_missing_confidence": "confirm"}
    assert outcome(denies, project=project) == ("denied", "missing_confidence")


INTENT = {"explicit_intent": True, "intent_keywords": ("remind", "schedule", "log it")}


def test_explicit_intent_has_three_answers(outcome):
    for message, at_once, anyway in (
        ("Remind me", ("ok", None), ("confirm", None)),
        ("Can you remind me?", ("confirm", None), ("confirm", None)),
        ("Don't remind me", ("confirm", None), ("confirm", None)),
        ("I took aspirin", ("denied", "no_explicit_intent"), ("confirm", None)),
        ("", ("denied", "no_explicit_intent"), ("confirm", None)),
    ):
        assert outcome(INTENT, message=message) == at_once
        for asks in ({"requires_confirmation": True}, {"sensitivity": "critical"},
                     {"confirm_when": "number >= 0"}):  # fmt: skip
            assert outcome({**INTENT, **asks}, {"number": 1}, message=message) == anyway
        assert outcome({**INTENT, "confirm_when": "number > 5"}, {"number": 1},
                       message=message) == at_once  # fmt: skip


def test_explicit_intent_without_keywords_is_never_stated(outcome):
    assert outcome({"explicit_intent": True}, message="do it")[0] == "denied"


def test_the_prompt_of_an_unclear_call_shows_the_value_and_the_users_words(harness, tool, tmp_path):
    made = tool("act", nothing, NUMBER, safety=Safety(**INTENT))
    dispatcher = harness(made, settings=settings(tmp_path))
    result = dispatcher.call("act", {"number": 3}, message="Could you remind me?")
    assert result.confirmation.prompt == (
        "I'd like to act: number: 3. You said: “Could you remind me?”. Is this correct?"
    )
    assert "not certain that the user asked for act" in result.message


def test_an_identical_call_asks_with_the_users_newest_words(harness, tool, tmp_path):
    made = tool("act", nothing, NUMBER, safety=Safety(**INTENT, requires_confirmation=True))
    dispatcher = harness(made, settings=settings(tmp_path))
    unclear, clear = (
        dispatcher.call("act", {"number": 3}, message=message).confirmation
        for message in ("perhaps", "Remind me")
    )
    assert unclear.prompt == "I'd like to act: number: 3. You said: “perhaps”. Is this correct?"
    assert clear.prompt == "I'd like to act: number: 3. Is this correct?"
    assert clear.id == unclear.id
    stored = asyncio.run(dispatcher.dispatcher.confirmations.get(clear.id))
    assert (stored.prompt, stored.code) == (clear.prompt, "confirmation_required")


def test_an_identical_call_that_runs_at_once_leaves_no_other_to_approve(harness, tool, tmp_path):
    made = tool("act", nothing, NUMBER, safety=Safety(**INTENT))
    dispatcher = harness(made, settings=settings(tmp_path))
    unclear, clear = (
        dispatcher.call("act", {"number": 3}, message=message, conversation="c1")
        for message in ("Can you remind me?", "Remind me")
    )
    assert (unclear.outcome, clear.outcome) == ("confirm", "ok")
    one = asyncio.run(dispatcher.dispatcher.confirmations.get(unclear.confirmation.id))
    assert one.state == "superseded"


@pytest.fixture
def talk(harness, tool, tmp_path):
    """Call a tool that needs the word "log", in a conversation, and one that needs none."""
    logs = tool("log", nothing, safety=Safety(explicit_intent=True, intent_keywords=("log",)))
    dispatcher = harness(logs, tool("look", nothing), settings=settings(tmp_path))

    def call(message, name="log", conversation="c1", user="ana", **more):
        return dispatcher.call(name, message=message, conversation=conversation, user=user,
                               **more).outcome  # fmt: skip

    return call


def test_the_users_messages_since_the_last_executed_call_count(talk):
    assert talk("Should I log it?", dry_run=True) == "confirm"
    assert talk("Log my aspirin", "unknown") == "denied"
    assert talk("yes, 100 mg") == "ok", "the words of the message before"
    assert talk("yes") == "denied", "they were used by the call"
    assert talk("Log it", "unknown", conversation="c2") == talk("yes", user="bob") == "denied"
    assert talk("Log it", "unknown") == "denied"
    assert talk("I see", "look") == "ok"
    assert talk("yes") == "denied", "another call was executed since"
    assert talk("Log it, then") == "ok"


def test_calls_of_one_reply_share_the_users_words(harness, tool, tmp_path):
    made = tool("log", nothing, safety=Safety(explicit_intent=True, intent_keywords=("log",)))
    dispatcher = harness(made, settings=settings(tmp_path)).dispatcher

    async def main():
        def call(message, reply):
            caller = Caller("ana", message=message, conversation="c1")
            return dispatcher.dispatch(Call("log", {}, caller=caller, reply=reply))

        await dispatcher.hear(Caller("ana", message="Log both", conversation="c1"))
        first, second = await call("yes", "r1"), await call("yes", "r1")
        return first.outcome, second.outcome, (await call("yes", "r2")).outcome

    assert asyncio.run(main()) == ("ok", "ok", "denied")


def test_a_hook_replaces_the_rule(harness, tool, tmp_path):
    said = Parameter(name="name", shape=Schema(types=("string",), verbatim=True))
    made = tool("act", lambda name="": {}, said,
                safety=Safety(explicit_intent=True, intent_keywords=("log",)))  # fmt: skip
    asked, answers = [], {}

    async def later(answer):
        return answer

    def ask(kind, wanted, call):
        asked.append((kind, wanted))
        answer = answers.get(kind)
        if isinstance(answer, Exception):
            raise answer
        yield None
        yield later(answer) if answer == "clear" else answer

    dispatcher = harness(made, settings=settings(tmp_path), ask_intent=ask)
    for intent, verbatim, wanted in (
        ("clear", "clear", "ok"),
        ("unclear", "clear", "confirm"),
        ("absent", "clear", "denied"),
        ("clear", "absent", "denied"),
        (RuntimeError("down"), "clear", "confirm"),
        ("perhaps", "clear", "confirm"),
        (None, None, "ok"),
    ):
        answers.update(intent=intent, verbatim=verbatim)
        got = dispatcher.call("act", {"name": "milk"}, message="Log milk")
        assert got.outcome == wanted, (intent, verbatim)
    assert asked[:2] == [("intent", ("log",)), ("verbatim", ("milk",))]


def test_words_of_doubt_of_packages_count_and_deny_where_they_cannot_be_read(
    harness, tool, tmp_path
):
    made = tool("act", nothing, safety=Safety(explicit_intent=True, intent_keywords=("de: merke",)))
    dispatcher = harness(made, settings=settings(tmp_path), doubt=lambda: ("nicht",))
    assert dispatcher.call("act", message="Merke es nicht").outcome == "confirm"
    assert dispatcher.call("act", message="Merke es").outcome == "ok"

    def broken():
        raise RuntimeError

    dispatcher = harness(made, settings=settings(tmp_path), doubt=broken)
    assert dispatcher.call("act", message="Merke es").error.code == "internal_guard_error"


def test_verbatim_values_must_be_words_of_the_user(harness, tool, tmp_path):
    said = Schema(types=("string",), verbatim=True)
    details = Schema(types=("object",), properties=(Parameter(name="dose", shape=said),))

    async def log(name, details=None):
        return {}

    dispatcher = harness(
        tool("log", log, Parameter(name="name", shape=said, required=True),
             Parameter(name="details", shape=Schema(types=("array",), items=details))),
        settings=settings(tmp_path),
    )  # fmt: skip
    message = "I took Aspirin, 100 mg"
    assert dispatcher.call("log", {"name": "aspirin"}, message=message).success
    error = dispatcher.call("log", {"name": "ibuprofen", "details": [{"dose": "200 mg"}]},
                      message=message).error  # fmt: skip
    assert error.code == "not_stated_by_user"
    assert [problem.path for problem in error.details] == ["name", "details[0].dose"]


def test_a_tool_that_needs_intent_and_verbatim_values_gets_both_or_does_not_run(
    harness, tool, tmp_path
):
    async def log(name):
        return {}

    said = Parameter(name="name", shape=Schema(types=("string",), verbatim=True))
    safety = Safety(explicit_intent=True, intent_keywords=("log",))
    dispatcher = harness(tool("log", log, said, safety=safety), settings=settings(tmp_path))

    def told(message):
        error = dispatcher.call("log", {"name": "aspirin"}, message=message).error
        return error and error.code

    assert told("Log the aspirin") is None
    assert told("I took aspirin") == "no_explicit_intent"
    assert told("Log the pill") == "not_stated_by_user"


def test_crisis_words_require_a_review_of_every_call_and_flag_every_outcome(
    harness, tool, tmp_path
):
    dispatcher = harness(
        tool("act", nothing, NUMBER),
        settings=settings(tmp_path, crisis_words=("suicide", "kill myself")),
    )
    assert not dispatcher.call("act", message="hello").crisis
    result = dispatcher.call("act", message="I want to KILL myself")
    assert (result.outcome, result.crisis) == ("review", True)
    for name, arguments in (("unknown", "{}"), ("act", "{"), ("act", '{"a": 1}')):
        refused = dispatcher.call(name, arguments, message="suicide")
        assert (refused.outcome, refused.crisis) == ("denied", True)


@pytest.mark.parametrize(
    ("safety", "wanted"),
    [
        ({"requires_confirmation": True}, "confirm"),
        ({"requires_confirmation": False}, "ok"),
        ({"sensitivity": "critical"}, "confirm"),
        ({"sensitivity": "critical", "requires_confirmation": False}, "confirm"),
        ({"sensitivity": "high"}, "ok"),
        ({"confirm_when": "number > 2"}, "confirm"),
        ({"confirm_when": "number > 3"}, "ok"),
        ({"confirm_when": "number / 0 > 1"}, "confirm"),
        ({"confirm_when": "number"}, "confirm"),
        ({"crisis_when": "number > 2"}, "review"),
        ({"crisis_when": "number / 0 > 1"}, "review"),
        ({"crisis_when": "number >", "requires_confirmation": True}, "denied"),
        ({"crisis_when": "number > 2", "requires_confirmation": True}, "review"),
        ({"crisis_when": "number > 2", "min_confidence": 0.5}, "denied"),
    ],
)
def test_the_policy_decides_if_a_call_asks(outcome, safety, wanted):
    got, _ = outcome(safety, {"number": 3})
    assert got == wanted


def test_a_confirmation_that_cannot_be_computed_asks(outcome):
    assert outcome({"confirm_when": "number > 2"}, {}) == ("confirm", None)


CHOICES = [
    {"min_confidence": 0.7}, {"explicit_intent": True, "intent_keywords": ("book",)},
    {"requires_confirmation": True}, {"sensitivity": "critical"},
    {"confirm_when": "number > 2"}, {"crisis_when": "number > 4"},
]  # fmt: skip


@pytest.fixture(scope="module")
def every_outcome(tmp_path_factory, harness, tool):
    """Every set of restrictions on one call, by its confidence, message and number."""
    root = tmp_path_factory.mktemp("monotony")
    found = {}
    for size in range(len(CHOICES) + 1):
        for chosen in itertools.combinations(range(len(CHOICES)), size):
            fields = {k: v for index in chosen for k, v in CHOICES[index].items()}
            dispatcher = harness(tool("act", nothing, NUMBER, safety=Safety(**fields)),
                           settings=settings(root))  # fmt: skip
            for confidence, message, number in itertools.product(
                (0.0, 0.69, 0.7, 1.0), ("book it", ""), (1, 3, 5)
            ):
                result = dispatcher.call("act", {"number": number}, confidence=confidence,
                                   message=message, dry_run=True)  # fmt: skip
                outcome = result.outcome.replace("allowed", "ok")
                found[frozenset(chosen), confidence, message, number] = STRICTNESS.index(outcome)
    return found


def test_adding_a_restriction_never_makes_the_outcome_better(every_outcome):
    for (chosen, *call), outcome in every_outcome.items():
        for added in set(range(len(CHOICES))) - chosen:
            if 1 in chosen and added in {2, 3, 4}:
                continue  # A tool that a person confirms anyway is never denied for words.
            assert every_outcome[chosen | {added}, *call] >= outcome


def test_raising_the_confidence_never_makes_the_outcome_worse(every_outcome):
    for (chosen, confidence, *call), outcome in every_outcome.items():
        for higher in (0.69, 0.7, 1.0):
            if higher > confidence:
                assert every_outcome[chosen, higher, *call] <= outcome


def deny(_call, _arguments):
    return Verdict(Action.DENY, "not_today", "Not today.")


async def review(_call, _arguments):
    return Verdict(Action.REVIEW, "review_required", "Look at it.")


def crash(_call, _arguments):
    raise RuntimeError("hunter2")


async def crash_later(_call, _arguments):
    raise RuntimeError("hunter2")


ODD = {"true": True, "false": False, "text": "allow", "zero": 0, "a ruling": Action.ALLOW,
       "a tuple": (0,), "a number": Verdict(0), "a word": Verdict("allow"),
       "a likeness": SimpleNamespace(action=Action.ALLOW, code="fine")}  # fmt: skip


@pytest.mark.parametrize("answer", ODD)
def test_an_invalid_verdict_denies(outcome, answer):
    guards = (lambda *_: ALLOWED, lambda *_: ODD[answer])
    assert outcome(guards=guards) == ("denied", "internal_guard_error")


@pytest.mark.parametrize("guard", [crash, crash_later])
def test_a_guard_that_raises_denies(outcome, guard):
    assert outcome(guards=(guard,)) == ("denied", "internal_guard_error")


def test_guards_that_cannot_be_loaded_deny(harness, tool, tmp_path):
    def broken(_spec):
        raise RuntimeError

    dispatcher = harness(tool("act", nothing), settings=settings(tmp_path), guards=broken)
    for _ in range(2):
        assert dispatcher.call("act").error.code == "internal_guard_error"


def test_a_guard_cannot_change_the_call(harness, tool, tmp_path):
    seen = []

    async def act(items):
        seen.append(items)

    def meddle(call, arguments):
        arguments["items"].append("b")
        call.arguments["items"].append("c")

    items = Parameter(name="items", shape=Schema(types=("array",), items=TEXT), required=True)
    dispatcher = harness(
        tool("act", act, items), settings=settings(tmp_path), guards=lambda _: (meddle,)
    )
    assert dispatcher.call("act", {"items": ["a"]}).success
    assert seen == [["a"]]


def test_observers_receive_events_and_decide_nothing(harness, tool, tmp_path):
    heard = []

    def before(call, tool):
        heard.append(("before", call.tool))
        raise RuntimeError

    def after(call, tool, result):
        heard.append(("after", result.outcome))
        raise RuntimeError

    dispatcher = harness(
        tool("act", nothing), settings=settings(tmp_path), before=before, after=after
    )
    for arguments in ("{}", "{}", "{"):
        dispatcher.call("act", arguments)
    assert heard == [("before", "act"), ("after", "ok")] * 2 + [("after", "denied")]


def test_without_a_store_no_call_is_pending(harness, tool, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    state = Settings(root=Path(tmp_path), state=file / "below", audit=AuditSettings(enabled=False))
    made = tool("act", nothing, safety=Safety(requires_confirmation=True))
    assert harness(made, settings=state).call("act").error.code == "internal_guard_error"
