"""Runs as JSON: what is kept of an order, a question, an answer and a result."""

import hashlib
import json
from functools import lru_cache
from typing import Any

from toolmd._types.call import Caller
from toolmd._types.plan import Plan
from toolmd._types.result import SkillResult
from toolmd._types.run import Answer, Question


def plan_text(plan: Plan) -> tuple[str, str]:
    """Give a plan's text and the hex sha256 under which it is kept."""
    text = plan.model_dump_json()
    return text, hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=64)
def plan_of(text: str) -> Plan:
    """Read a plan."""
    if _OLDER in text:
        text = _with_contexts(json.loads(text))
    return Plan.model_validate_json(text)


_OLDER = '"requires_patient_context"'
"""Stands in plans that were stored before callers had a context."""


def _with_contexts(plan: dict[str, Any]) -> str:
    """Return a stored plan with the context in place of the patient."""
    for tool in plan["tools"].values():
        tool["requires_context"] = ["patient"] if tool.pop("requires_patient_context") else []
    for skill in (plan["skill"], *plan["skills"].values()):
        named = skill.pop("patient_from", None)
        skill["context"] = {} if named is None else {"patient": named}
    return json.dumps(plan)


def written(value: Question | Answer | Caller | SkillResult) -> str:
    """Give one of the nouns as text."""
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
    if "patient" in said:  # as runs were stored before callers had a context
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
    """Give what a step recorded; raises ValueError for anything but our own JSON."""
    if serialization != NAME:
        raise ValueError(f"a step is recorded as {serialization}; only {NAME} is read")
    return json.loads(output)


NAME = "toolmd_json"
"""How rows of ours are labelled."""
