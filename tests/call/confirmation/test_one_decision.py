"""A pending call runs at most once, as shown, and only by a user who may approve it."""

import asyncio
import math
import tempfile
from pathlib import Path

from deciding import approve, reject, respond
from hypothesis import settings as profile
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, rule, run_state_machine_as_test

from toolmd._types.call_spec import Safety
from toolmd._types.schema import Parameter, Schema
from toolmd._types.settings import AuditSettings, Settings

NUMBER = Parameter(name="number", shape=Schema(types=("integer",), maximum=9), required=True)
SAFETY = Safety(requires_confirmation=True, crisis_when="number > 5")
USERS = st.sampled_from(["ada", "bob", None])
"""Two users and the operator, who names none."""
LIFE_S = 600


class PendingCallMachine(RuleBasedStateMachine):
    """A door whose holds are compared with what is written down beside them."""

    make_harness = make_tool = new_folder = None
    """What a test hands in."""
    holds = Bundle("holds")

    def __init__(self):
        super().__init__()
        self.root, self.now = type(self).new_folder(), 1_000_000.0
        self.ran, self.wanted = [], []
        self.known = {}
        self.open("1")

    def open(self, version):
        self.version = version

        async def act(number):
            self.ran.append(number)

        made = type(self).make_tool("act", act, NUMBER, safety=SAFETY, notes=version)
        project = Settings(root=self.root, state=self.root, audit=AuditSettings(enabled=False))
        self.harness = type(self).make_harness(made, settings=project, clock=lambda: self.now)
        self.confirmations = self.harness.dispatcher.confirmations

    def keep(self, result, number, user, *, confirmed=False):
        kind = "review" if number > 5 or confirmed else "confirm"
        before = self.known.get(result.confirmation.id)
        assert result.outcome == (kind if before is None else before["kind"])
        assert f"number: {number}" in result.confirmation.prompt
        # An identical call that waits is the same one; a crisis review waits without an end.
        self.known.setdefault(result.confirmation.id, {
            "number": number, "user": user, "kind": kind, "state": "pending",
            "version": self.version, "until": math.inf if kind == "review" else self.now + LIFE_S,
            "given": confirmed,
        })  # fmt: skip
        return result.confirmation.id

    @rule(target=holds, number=st.integers(0, 9), user=USERS)
    def request(self, number, user):
        result = self.harness.call("act", {"number": number}, user=user)
        return self.keep(result, number, user)

    @rule(version=st.sampled_from("12"))
    def change_the_tool(self, version):
        self.open(version)

    @rule(seconds=st.sampled_from([1, 299, 300, 600]))
    def wait(self, seconds):
        self.now += seconds

    def why_not(self, held, user, *, drops=False):
        """Give the code with which a decision of this user is refused, if it is."""
        own = user is not None and user == held["user"]
        if held["kind"] == "confirm" and not own and None not in (user, held["user"]):
            return "confirmation_not_found"
        if held["state"] != "pending":
            return "confirmation_used"
        if held["until"] <= self.now:
            return "confirmation_expired"
        return "review_required" if held["kind"] == "review" and own and not drops else None

    @rule(confirmation_id=holds, user=USERS, edit=st.none() | st.integers(0, 10))
    def approve(self, confirmation_id, user, edit):
        held = self.known[confirmation_id]
        changes = None if edit is None else {"number": edit}
        result = asyncio.run(approve(self.confirmations, confirmation_id, user=user, edit=changes))
        code = result.error and result.error.code
        if refusal := self.why_not(held, user):
            assert (result.outcome, code) == ("denied", refusal)
        elif held["version"] != self.version:
            assert code == "confirmation_stale"
            self.keep(result, held["number"], held["user"])
            held["state"] = "over"
        elif edit == 10:
            assert (result.outcome, code) == ("denied", "invalid_arguments")
        elif edit is not None and held["kind"] == "confirm" and (edit > 5 or held["given"]):
            # The flag of a crisis stays on the call.
            self.keep(result, edit, held["user"], confirmed=True)
            held["state"] = "over"
        elif held["kind"] == "review" and not held["given"]:
            # The yes of an operator is not the caller's.
            assert (result.outcome, result.confirmation.id) == ("confirm", confirmation_id)
            number = held["number"] if edit is None else edit
            held |= {"number": number, "kind": "confirm", "until": self.now + LIFE_S, "given": True}
        else:
            assert result.outcome == "ok"
            self.wanted.append(held["number"] if edit is None else edit)
            held["state"] = "over"
        assert self.ran == self.wanted

    @rule(confirmation_id=holds, user=USERS, answer=st.booleans())
    def decline(self, confirmation_id, user, answer):
        held = self.known[confirmation_id]
        if answer:
            result = asyncio.run(respond(self.confirmations, confirmation_id, "Done.", user=user))
        else:
            result = asyncio.run(reject(self.confirmations, confirmation_id, user=user))
        refusal = self.why_not(held, user, drops=not answer)
        if refusal is None:
            held["state"] = "over"
            refusal = None if answer else "rejected"
        assert (result.error and result.error.code) == refusal
        assert self.ran == self.wanted

    @rule(user=USERS)
    def look(self, user):
        waiting = [
            confirmation_id
            for confirmation_id, held in self.known.items()
            if held["state"] == "pending" and held["until"] > self.now
            if user is None or held["user"] == user
        ]
        assert sorted(held.id for held in self.confirmations.pending(user)) == sorted(waiting)


def test_a_pending_call_runs_once_as_shown_and_by_an_allowed_user(harness, tool, tmp_path):
    class Here(PendingCallMachine):
        make_harness, make_tool = harness, staticmethod(tool)
        new_folder = staticmethod(lambda: Path(tempfile.mkdtemp(dir=tmp_path)))

    run_state_machine_as_test(
        Here,
        settings=profile(max_examples=profile.default.max_examples // 4, stateful_step_count=25),
    )
