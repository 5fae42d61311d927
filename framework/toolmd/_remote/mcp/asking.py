"""Convert what a server asks for during a call, and the answers of a person."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from toolmd._types.asked import Asked
from toolmd.errors import ToolError

MOST_ROUNDS = 8
"""How often one call may be interrupted by a question."""
_MOST_BYTES = 1 << 20
"""The most bytes of the forms and the state of a result: each answer is stored with them."""
_MAX_PROMPT = 2_000
_REASONS = {
    "sampling/createMessage": "a reply of your model, which Toolmd passes to no server",
    "roots/list": "a list of your folders, which Toolmd passes to no server",
}


def asked_in(server: str, result: Any, before: Asked | None) -> Asked:
    """Return the first question of a result; raises ToolError for what is rejected."""
    rounds = 1 if before is None else before.rounds + 1
    if rounds + len(result.input_requests) - 1 > MOST_ROUNDS:
        message = f"The server {server} asks more than {MOST_ROUNDS} questions in one call."
        raise ToolError(message)
    questions = []
    for key, request in result.input_requests.items():
        if request.method in _REASONS:
            raise ToolError(f"The server {server} asks for {_REASONS[request.method]}.")
        questions.append((key, *_question(server, request.params)))
    key, prompt, form = questions[0]
    size = len(result.request_state or "") + len(json.dumps(questions))
    if size > _MOST_BYTES:
        raise ToolError(f"The server {server} asks with more than {_MOST_BYTES:,} bytes.")
    return Asked(prompt, form, key, result.request_state, tuple(questions[1:]), rounds=rounds)


def asked_by(server: str, params: Any, parked: str) -> Asked:
    """Return the question of a server that waits for the answer meanwhile."""
    prompt, form = _question(server, params)
    return Asked(prompt, form, parked=parked)


def following(asked: Asked) -> Asked | None:
    """Return the next question of the same answer, with this one answered; None for the last."""
    if not asked.others:
        return None
    (key, prompt, form), *rest = asked.others
    return asked._replace(
        prompt=prompt, form=form, key=key, others=tuple(rest), answers=_answered(asked),
        action="", content={}, rounds=asked.rounds + 1,
    )  # fmt: skip


def responses_of(asked: Asked) -> dict[str, Any]:
    """Return the answers for a server by the keys of its questions."""
    from mcp_types import ElicitResult

    return {key: ElicitResult(**answer) for key, answer in _answered(asked).items()}


def _answered(asked: Asked) -> Mapping[str, Any]:
    content = dict(asked.content) if asked.action == "accept" and asked.fields else None
    return {**asked.answers, asked.key: {"action": asked.action, "content": content}}


def _question(server: str, params: Any) -> tuple[str, dict[str, Any]]:
    """Return the prompt and the form of an elicitation; raises ToolError for an odd URL."""
    said = " ".join(params.message.split())[:_MAX_PROMPT]
    prompt = f"The server {server} asks: {said}"
    if params.mode == "url":
        if not _is_web(params.url):
            raise ToolError(f"The server {server} asks to open what is no address of a web page.")
        return f"{prompt} Open {params.url}, and confirm when you are done.", {"type": "object"}
    return prompt, dict(params.requested_schema)


def _is_web(url: str) -> bool:
    """Return whether a URL is one of a web page, without signs that hide another in it."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    is_plain = url.isprintable() and " " not in url
    return is_plain and parts.scheme in {"http", "https"} and bool(parts.hostname)
