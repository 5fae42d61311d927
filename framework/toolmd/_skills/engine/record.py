"""Convert plans, orders, questions, answers and results to and from JSON."""

import hashlib
import json
from functools import lru_cache

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
    return Plan.model_validate_json(text)


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
    return Caller(**json.loads(text))


def user_prefix(user: str) -> str:
    """Return how the text of each Caller with this user begins: `user` is its first field."""
    return json.dumps({"user": user})[:-1] + ","


def stored_result(text: str) -> SkillResult:
    """Read a result."""
    return SkillResult(**json.loads(text))
