"""Convert the errors of an endpoint and of the openai SDK to a ModelError."""

import re
from typing import Any

from toolmd.errors import ModelError

_MAX_WORDS = 300
"""Characters of an endpoint's own message that are repeated."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")

_SAYS = {
    400: ("rejected", "can't use the request"),
    401: ("unauthorized", "rejects the key"),
    402: ("not_paid", "asks for credit"),
    403: ("unauthorized", "rejects the key for this model"),
    404: ("not_found", "does not know the address or the model"),
    408: ("timeout", "gave up waiting"),
    413: ("rejected", "finds the conversation too long"),
    422: ("rejected", "can't use the request"),
    429: ("rate_limited", "was asked too often"),
}
_REMEDIES = {
    "unauthorized": "check the key in OPENROUTER_API_KEY or OPENAI_API_KEY",
    "not_paid": "add credit, or choose another model",
    "not_found": "check --base-url and --model",
    "rate_limited": "wait, then send the message again",
    "unavailable": "send the message again later",
    "timeout": "send the message again, or allow more time",
    "unreachable": "check --base-url and the network",
}


def model_error(error: BaseException, url: str, secret: str) -> ModelError | None:
    """Return the ModelError for an exception, without the key; None for another kind."""
    import openai

    if isinstance(error, openai.APITimeoutError):
        return fault("timeout", f"{url} did not answer in time")
    if isinstance(error, openai.APIStatusError):
        return _status(error, url, secret)
    if isinstance(error, openai.APIConnectionError):
        why = _clean(str(error.__cause__ or error), secret)
        return fault("unreachable", f"{url} can't be reached: {why}")
    if isinstance(error, openai.APIResponseValidationError):
        return fault("unreadable", f"{url} sent an answer that does not follow the API")
    if isinstance(error, openai.APIError):
        return said_by_body(error.body or {"message": error.message}, url, secret)
    if isinstance(error, openai.OpenAIError):
        return fault("rejected", _clean(str(error), secret))
    return None


def rejects(error: Exception, parameter: str) -> bool:
    """Return whether an endpoint rejects a request because of a parameter that it names."""
    import openai

    if not isinstance(error, openai.APIStatusError) or error.status_code >= 500:  # noqa: PLR2004
        return False
    return parameter in _words(error.body).casefold()


def breaks_off(error: Exception) -> bool:
    """Return whether an error of a stream means that its connection ended."""
    import openai

    timeout = isinstance(error, openai.APITimeoutError)
    return isinstance(error, openai.APIConnectionError) and not timeout


def said_by_body(error: Any, url: str, secret: str) -> ModelError:
    """Return the error in an answer's body, in OpenRouter's form."""
    code = error.get("code") if isinstance(error, dict) else None
    status = int(code) if isinstance(code, int | str) and str(code).isdecimal() else 0
    return _told(status or 500, _words(error), url, secret)


def fault(code: str, what: str, retry_after_s: float | None = None) -> ModelError:
    """Build the error, with its remedy."""
    remedy = _REMEDIES.get(code, "")
    if code == "rate_limited" and retry_after_s:
        remedy = f"send the message again in {retry_after_s:g} s"
    message = f"{what}; {remedy}" if remedy else what
    return ModelError(message, code=code, retry_after_s=retry_after_s)


def _status(error: Any, url: str, secret: str) -> ModelError:
    wait = error.response.headers.get("retry-after", "")
    seconds = float(wait) if re.fullmatch(r"\d{1,6}(\.\d+)?", wait) else None
    return _told(error.status_code, _words(error.body), url, secret, seconds)


def _told(
    status: int, words: str, url: str, secret: str, retry_after_s: float | None = None
) -> ModelError:
    code, says = _SAYS.get(status) or (
        ("unavailable", "is not available") if status >= 500 else ("rejected", "rejects it")  # noqa: PLR2004
    )
    cleaned = _clean(words, secret)
    return fault(code, f"{url} {says} ({status}){': ' if cleaned else ''}{cleaned}", retry_after_s)


def _words(body: Any) -> str:
    """Return the message in an error's body; empty for an HTML page."""
    if isinstance(body, str):
        return "" if "<" in body[:200] else body
    if isinstance(body, dict):
        inner = body.get("error", body)
        said = inner.get("message") if isinstance(inner, dict) else inner
        return said if isinstance(said, str) else ""
    return ""


def _clean(words: str, secret: str) -> str:
    cut = _CONTROL.sub(" ", words).strip()[:_MAX_WORDS].rstrip(". ")
    return cut.replace(secret, "(key)") if secret else cut
