"""Choose an OpenAI-compatible endpoint, and ask its model, whole or in pieces."""

import asyncio
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_address
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from toolmd._dialect.calls import new_id
from toolmd._types.settings import Settings
from toolmd.errors import ConfigError, ModelError

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
        return error_of_body(error.body or {"message": error.message}, url, secret)
    if isinstance(error, openai.OpenAIError):
        return fault("rejected", _clean(str(error), secret))
    return None


def breaks_off(error: Exception) -> bool:
    """Return whether an error of a stream means that its connection ended."""
    import openai

    timeout = isinstance(error, openai.APITimeoutError)
    return isinstance(error, openai.APIConnectionError) and not timeout


def error_of_body(error: Any, url: str, secret: str) -> ModelError:
    """Return the error in an answer's body, in OpenRouter's form."""
    code = error.get("code") if isinstance(error, dict) else None
    status = int(code) if isinstance(code, int | str) and str(code).isdecimal() else 0
    return _failure(status or 500, _words(error), url, secret)


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
    return _failure(error.status_code, _words(error.body), url, secret, seconds)


def _failure(
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


OPENROUTER = "https://openrouter.ai/api/v1"
OPENROUTER_KEY = "OPENROUTER_API_KEY"
OPENAI_KEY = "OPENAI_API_KEY"
NO_KEY = "none"
"""Key for servers on this machine, which usually need none."""


class Pieces:
    """The pieces of one streamed reply, as far as they have come."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        """Prepare an empty reply; `tell` receives each piece of text at once."""
        self.finish = ""
        """Why the reply ended; empty as long as it has not."""
        self._tell = tell
        self._texts: list[str] = []
        self._calls: list[tuple[int | None, dict[str, Any]]] = []

    @property
    def any(self) -> bool:
        """Whether anything came."""
        return bool(self.finish or self._texts or self._calls)

    def add(self, chunk: Any) -> None:
        """Add a chunk of the SDK's stream.

        Raises AttributeError, TypeError or ValueError where it does not follow the API.
        """
        choices = getattr(chunk, "choices", None)
        if not choices:
            return
        self.finish = choices[0].finish_reason or self.finish
        delta = choices[0].delta
        if delta is None:
            return
        if delta.content:
            self._texts.append(delta.content)
            self._tell(delta.content)
        for piece in delta.tool_calls or ():
            self._add_call(piece)

    def message(self) -> dict[str, Any]:
        """Return the assistant's message."""
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self._texts)}
        if self._calls:
            message["tool_calls"] = [
                call for _, call in sorted(self._calls, key=lambda one: one[0] or 0)
            ]
        return message

    def _add_call(self, piece: Any) -> None:
        """Add a piece of a call to the earlier ones; a new id begins a new call.

        Some providers give each call the same index or none, or repeat the name in each piece.
        """
        named = [call for _, call in self._calls if piece.id and call["id"] == piece.id]
        numbered = [call for index, call in self._calls if index == piece.index]
        call = next(reversed(named or numbered), None)
        if call is None or (piece.id and call["id"] and piece.id != call["id"]):
            empty = {"name": "", "arguments": ""}
            call = {"id": None, "type": "function", "function": empty}
            self._calls.append((piece.index, call))
        call["id"] = piece.id or call["id"]
        if piece.function is not None:
            function = call["function"]
            if piece.function.name != function["name"]:
                function["name"] += piece.function.name or ""
            function["arguments"] += piece.function.arguments or ""


Message = dict[str, Any]
Teller = Callable[[str], None]
"""Receives the model's text."""

_KEPT = ("content", "reasoning_details")
_BROKEN_OFF = json.dumps(
    {
        "success": False,
        "outcome": "unknown",
        "error": {
            "code": "interrupted",
            "message": "The user stopped this. It may have taken effect: look before calling it"
            " again.",
        },
    }
)


class Choice(NamedTuple):
    """One reply of the model."""

    message: Message
    """The assistant's message, as the API has it: `content`, and `tool_calls` with unique ids."""
    finish: str
    """Why it ended: `stop`, `tool_calls`, `length`, `content_filter`, …"""

    @property
    def words(self) -> str:
        """The text of the message."""
        content = self.message.get("content")
        return content if isinstance(content, str) else ""

    def history_message(self) -> Message:
        """Return the part of the message that goes back with the next question."""
        kept = {name: self.message[name] for name in _KEPT if self.message.get(name)}
        if calls := self._calls():
            kept["tool_calls"] = calls
        return {"role": "assistant", "content": None, **kept}

    def broken_off(self) -> list[Message]:
        """Return the messages for calls with an unknown outcome."""
        calls = self._calls()
        if not calls:
            return [{"role": "user", "content": _BROKEN_OFF}] if self.words else []
        return [
            {"role": "tool", "tool_call_id": call["id"], "content": _BROKEN_OFF} for call in calls
        ]

    def _calls(self) -> list[dict[str, Any]]:
        """Return the calls in the form that every endpoint accepts back."""
        made = []
        for call in self.message.get("tool_calls") or ():
            if isinstance(call, dict) and isinstance(function := call.get("function"), dict):
                arguments = function.get("arguments") or "{}"
                text = arguments if isinstance(arguments, str) else json.dumps(arguments)
                named = {"name": function.get("name"), "arguments": text.strip() or "{}"}
                made.append({"id": call["id"], "type": "function", "function": named})
        return made


class Endpoint:
    """One model behind a client of the openai SDK."""

    def __init__(self, client: Any, model: str) -> None:
        """Keep the parts."""
        self.client = client
        self._model = model
        self._url = str(getattr(client, "base_url", "the endpoint")).rstrip("/")
        self._secret = str(getattr(client, "api_key", "") or "")

    async def ask(
        self,
        messages: Sequence[Message],
        tools: Sequence[Any],
        *,
        may_call: bool = True,
        tell: Teller | None = None,
    ) -> Choice:
        """Return the model's next message; raises ModelError.

        With `tell` the reply is streamed, and `tell` receives each piece of text.
        """
        request: dict[str, Any] = {"model": self._model, "messages": list(messages)}
        if tools:
            request["tools"] = list(tools)
            request["tool_choice"] = "auto" if may_call else "none"
        try:
            asked = self._whole(request) if tell is None else self._stream(request, tell)
            return number_calls(await asked)
        except ModelError:
            raise
        except BaseException as error:
            if (known := model_error(error, self._url, self._secret)) is None:
                raise
            raise known from error

    async def _whole(self, request: dict[str, Any]) -> Choice:
        # Read the raw answer, since the SDK's parser accepts answers outside the API's form.
        raw = await self.client.chat.completions.with_raw_response.create(**request)
        return self._read(raw.http_response, raw.http_response.content)

    def _read(self, response: Any, content: bytes) -> Choice:
        """Return the reply in a whole answer."""
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            kind = response.headers.get("content-type", "no type")
            raise fault("unreadable", f"{self._url} answered {kind[:80]}, not JSON") from None
        if not isinstance(answer, dict):
            raise self._unreadable("it is not an object")
        choices = answer.get("choices")
        if not choices and answer.get("error"):
            raise error_of_body(answer["error"], self._url, self._secret)
        first = choices[0] if isinstance(choices, list) and choices else None
        if isinstance(first, dict) and first.get("error"):
            raise error_of_body(first["error"], self._url, self._secret)
        message = first.get("message") if isinstance(first, dict) else None
        if not isinstance(message, dict):
            raise self._unreadable("it has no message")
        assert isinstance(first, dict)
        return Choice(message, str(first.get("finish_reason") or ""))

    async def _stream(self, request: dict[str, Any], tell: Teller) -> Choice:
        asked = self.client.chat.completions.with_raw_response
        raw = await asked.create(**request, stream=True)
        response = raw.http_response
        if response.headers.get("content-type", "").startswith("application/json"):
            return _pass_on(self._read(response, await response.aread()), tell)
        pieces = Pieces(tell)
        try:
            async for chunk in raw.parse():
                pieces.add(chunk)
        except (AttributeError, TypeError, ValueError) as error:
            raise self._unreadable(f"its stream does not follow the API: {error}") from error
        except Exception as error:
            if breaks_off(error):
                raise self._torn() from error
            raise
        finally:
            await response.aclose()
        if not pieces.any:
            raise self._unreadable("its stream was empty")
        if not pieces.finish:
            raise self._torn()
        return Choice(pieces.message(), pieces.finish)

    def _torn(self) -> ModelError:
        what = f"{self._url} broke off in the middle of its answer; nothing of it was run"
        return fault("unreadable", f"{what}; send the message again")

    def _unreadable(self, why: str) -> ModelError:
        return fault("unreadable", f"{self._url} answered what can't be used: {why}")


def _pass_on(choice: Choice, tell: Teller) -> Choice:
    """Pass on the words of a reply that was not streamed."""
    if choice.words:
        tell(choice.words)
    return choice


def number_calls(choice: Choice) -> Choice:
    """Return the reply with a unique id for each call, and without a call's double."""
    calls = choice.message.get("tool_calls")
    if not isinstance(calls, list):
        return choice
    numbered: list[Any] = []
    known: set[Any] = set()
    for call in (one for at, one in enumerate(calls) if one not in calls[:at] or not _id(one)):
        own = _id(call)
        is_new = isinstance(call, dict) and (not own or own in known)
        numbered.append({**call, "id": new_id()} if is_new else call)
        known.add(own)
    return Choice({**choice.message, "tool_calls": numbered}, choice.finish)


def _id(call: Any) -> str:
    own = call.get("id") if isinstance(call, dict) else None
    return own if isinstance(own, str) else ""


def model_of(given: str | None, settings: Settings) -> str:
    """Return the model's name, or raise ConfigError with the ways to set it."""
    if (model := given or settings.chat.model) is None:
        raise ConfigError(
            "no model is named: give one (--model NAME), set TOOLMD_CHAT_MODEL, or write"
            ' model = "NAME" into the table [chat] of the project\'s settings'
        )
    return model


def base_url_of(given: str | None, settings: Settings) -> str:
    """Return the endpoint's URL; OpenRouter by default."""
    url = given or settings.chat.base_url or OPENROUTER
    try:
        parts = urlsplit(url)
        sound = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        sound = False
    if not sound:
        raise ConfigError(f"base URL {url!r}: must be an http:// or https:// URL with a host")
    return url


def key_of(url: str, environ: Mapping[str, str]) -> str:
    """Return the key for an endpoint: OpenRouter's key goes only to OpenRouter and this machine.

    Raises ConfigError with the name of the missing variable.
    """
    host = urlsplit(url).hostname or ""
    if host == "openrouter.ai" or host.endswith(".openrouter.ai"):
        if key := environ.get(OPENROUTER_KEY):
            return key
        raise ConfigError(
            f"{OPENROUTER_KEY} is not set: put OpenRouter's key there, or name another endpoint"
            " (--base-url URL)"
        )
    if key := environ.get(OPENAI_KEY):
        return key
    if _is_here(host):
        return environ.get(OPENROUTER_KEY) or NO_KEY
    raise ConfigError(f"{OPENAI_KEY} is not set: put the key of {host} there")


def open_client(url: str, key: str, seconds: float) -> Any:
    """Open the openai SDK's client; raises ConfigError where the package is missing."""
    try:
        from openai import AsyncOpenAI
    except ImportError as error:
        raise ConfigError(
            "a conversation needs the package openai: pip install 'toolmd[chat]'"
        ) from error
    return AsyncOpenAI(base_url=url, api_key=key, timeout=seconds)


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


TIMEOUT_S = 120.0
"""The wait for each answer, in seconds."""


def open_endpoint(
    model: str | None, base_url: str | None, client: Any, settings: Settings
) -> Endpoint:
    """Open the endpoint of a model; without a client of the host's own, one is opened.

    Raises ConfigError where the model, the key or the openai package is missing.
    """
    chosen = model_of(model, settings)
    if client is None:
        url = base_url_of(base_url, settings)
        client = open_client(url, key_of(url, os.environ), TIMEOUT_S)
    return Endpoint(client, chosen)


def ask_of(model: str, settings: Settings) -> Callable[[str, str], str]:
    """Return a function that sends instructions and a text to a model as `toolmd chat` does.

    The function returns the words of the answer, and raises ModelError where none comes.

    Args:
        model: The model's name.
        settings: Those of the project, with the endpoint's address.

    Raises:
        ConfigError: The key or the openai package is missing.
    """
    endpoint = open_endpoint(model, None, None, settings)

    async def answer(instructions: str, text: str) -> str:
        messages = [{"role": "system", "content": instructions}, {"role": "user", "content": text}]
        async with endpoint.client:
            return (await endpoint.ask(messages, ())).words

    return lambda instructions, text: asyncio.run(answer(instructions, text))
