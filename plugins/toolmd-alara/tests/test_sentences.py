"""Clear sentences of users run or ask, unclear ones never run, harmless ones lock nothing."""

import asyncio
import re
from collections import Counter
from pathlib import Path

FILE = Path(__file__).parent / "sentences.tsv"
ARGUMENTS = {
    "log_hydration": {"amount": 250},
    "schedule_reminder": {"title": "Pills", "time": "09:00"},
    "log_doctor_visit": {"visit_type": "appointment", "date": "2026-03-01"},
    "add_care_log": {"log_type": "visit", "title": "visit", "occurred_at": "2026-03-01"},
    "add_clinical_date": {"clinical_date": "2026-03-12", "description": "test"},
    "snooze_reminder": {"reminder_id": 1, "minutes": 10},
    "end_reminder": {"reminder_id": 1},
    "change_reminder": {"reminder_id": 1, "time": "10:00"},
}


async def outcomes(workspace):
    """Call each sentence's tool, and return kind, tool, sentence and result of each."""
    caller = {"user": "ana", "confidence": 0.95}
    pills = {"title": "Pills", "time": "09:00"}
    asked = await workspace.call("create_reminder", pills, **caller)
    await workspace.confirmations.approve(asked.confirmation.id, user="ana")
    found = []
    for number, line in enumerate(FILE.read_text("utf-8").splitlines()[1:]):
        _, kind, tool, sentence = line.split("\t")
        value = re.search(r"\[(.+?)\]", sentence)  # the value that the model passes on
        name = "medication_name" if tool == "log_medication" else "symptom_name"
        arguments = ARGUMENTS.get(tool, {name: value[1] if value else "aspirin"})
        message = re.sub(r"[\[\]]", "", sentence)
        more = {"conversation": f"c{number}"} if kind in ("harmless", "crisis") else {}
        result = await workspace.call(tool, arguments, message=message, **caller, **more)
        found.append((kind, tool, sentence, result))
    return found


def test_the_sentences_of_users_have_the_outcomes_that_they_ask_for(workspace):
    found = asyncio.run(outcomes(workspace))
    counts = Counter(kind for kind, *_ in found)
    outcome = {
        kind: [(tool, sentence, r.outcome, r.crisis) for k, tool, sentence, r in found if k == kind]
        for kind in counts
    }
    denied = [one for one in outcome["clear"] if one[2] not in ("ok", "confirm")]
    assert len(denied) <= 0.05 * counts["clear"], denied
    ran = [
        one
        for one in (*outcome["unclear"], *outcome["absent"], *outcome["crisis"])
        if one[2] == "ok"
    ]
    assert not ran
    assert not [one for one in outcome["harmless"] if one[3]]
    unflagged = [one for one in outcome["crisis"] if not one[3]]
    assert len(unflagged) <= 0.1 * counts["crisis"], unflagged
    at_once = [one for one in outcome["clear"] if one[0] == "log_medication" and one[2] == "ok"]
    assert len(at_once) >= 0.85 * sum(one[0] == "log_medication" for one in outcome["clear"])
