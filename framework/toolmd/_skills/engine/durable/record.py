"""Convert plans, orders, questions, answers and results to and from JSON."""

import hashlib
import json
from functools import lru_cache
from typing import Any

from toolmd._types.call import Caller
from toolmd._types.plan import Plan
from toolmd._types.result import SkillResult
from toolmd._types.run import Answer, Question


def plan_text(plan: Plan) -> tuple[str, str]:
    """Return a plan's text and the hex sha256 that identifies it."""
    text = plan.model_dump_json()
    return text, hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=64)
def plan_of(text: str) -> Plan:
    """Read a plan."""
    if _OLDER in text:
        text = _with_contexts(json.loads(text))
    return Plan.model_validate_json(text)


_OLDER = '"requires_patient_context"'
"""Part of plans that were stored before callers had a context."""


def _with_contexts(plan: dict[str, Any]) -> str:
    """Return a stored plan with a context in place of the patient."""
    for tool in plan["tools"].values():
        tool["requires_context"] = ["patient"] if tool.pop("requires_patient_context") else []
    for skill in (plan["skill"], *plan["skills"].values()):
        named = skill.pop("patient_from", None)
        skill["context"] = {} if named is None else {"patient": named}
    return json.dumps(plan)


def written(value: Question | Answer | Caller | SkillResult) -> str:
    """Return a question, an answer, a caller or a result as JSON text."""
    if isinstance(value, SkillResult):
        return json.dumps({**value.to_dict(), "code": value.code})
    return json.dumps(value._asdict())


def question_of(text: str) -> Question:
    """Read a question."""
    return Question(**json.loads(text))


def answer_of(text: str) -> Answer:
    """Read an answer."""
    return Answer(**json.loads(text))


def caller_of(text: str) -> Caller:
    """Read a caller."""
    said = json.loads(text)
    if "patient" in said:  # stored before callers had a context
        patient = said.pop("patient")
        said["context"] = {} if patient is None else {"patient": patient}
    return Caller(**said)


def user_prefix(user: str) -> str:
    """Return how the text of each Caller with this user begins: `user` is its first field."""
    return json.dumps({"user": user})[:-1] + ","


def result_of(text: str) -> SkillResult:
    """Read a result."""
    return SkillResult(**json.loads(text))


def value_of(output: str, serialization: str | None) -> Any:
    """Return the recorded value of a step; raises ValueError for anything but our own JSON."""
    if serialization != NAME:
        raise ValueError(f"a step is stored as {serialization}; only {NAME} can be read")
    return json.loads(output)


NAME = "toolmd_json"
"""The serialization label of our rows."""
