"""Ask a model over an OpenAI-compatible chat completions endpoint, whole or in pieces."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from toolmd._chat.errors import breaks_off, fault, model_error, rejects, said_by_body
from toolmd._chat.spending import counted
from toolmd._types.settings import PriceSettings
from toolmd._types.usage import Usage
from toolmd.errors import ModelError


class Pieces:
    """The pieces of one streamed reply, as far as they have come."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        """Prepare an empty reply; `tell` receives each piece of text at once."""
        self.finish = ""
        """Why the reply ended; empty as long as it has not."""
        self.usage: Any = None
        """The provider's figures, which come with the last pieces."""
        self._tell = tell
        self._texts: list[str] = []
        self._calls: dict[int, dict[str, Any]] = {}

    @property
    def any(self) -> bool:
        """Whether anything came."""
        return bool(self.finish or self._texts or self._calls)

    def add(self, chunk: Any) -> None:
        """Add a chunk of the SDK's stream.

        Raises AttributeError, TypeError or ValueError where it does not follow the API.
        """
        if (usage := getattr(chunk, "usage", None)) is not None:
            self.usage = usage.to_dict(warnings=False)
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
            message["tool_calls"] = [self._calls[index] for index in sorted(self._calls)]
        return message

    def _add_call(self, piece: Any) -> None:
        """Add a piece of a call to the earlier ones."""
        empty = {"id": None, "type": "function", "function": {"name": "", "arguments": ""}}
        index = piece.index if piece.index is not None else len(self._calls)
        call: dict[str, Any] = self._calls.setdefault(index, empty)
        call["id"] = piece.id or call["id"]
        if piece.function is not None:
            call["function"]["name"] += piece.function.name or ""
            call["function"]["arguments"] += piece.function.arguments or ""


Message = dict[str, Any]
Teller = Callable[[str], None]
"""Receives the model's text."""

_MAY_COST = frozenset(("timeout", "unreadable"))
"""The failures after which the provider may still charge the request."""
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

    def kept(self) -> Message:
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

    def __init__(self, client: Any, model: str, price: PriceSettings | None = None) -> None:
        """Keep the parts; `price` is used where the provider states no cost."""
        self.usage = Usage()
        """What all requests used."""
        self._client = client
        self._model = model
        self._price = price
        self._streams = True
        self._formats = True
        self._url = str(getattr(client, "base_url", "the endpoint")).rstrip("/")
        self._secret = str(getattr(client, "api_key", "") or "")

    async def ask(
        self,
        messages: Sequence[Message],
        tools: Sequence[Any],
        *,
        may_call: bool = True,
        tell: Teller | None = None,
        response_format: Mapping[str, Any] | None = None,
    ) -> Choice:
        """Return the model's next message; raises ModelError.

        With `tell` the reply is streamed, and `tell` receives each piece of text. An endpoint that
        does not stream is asked for whole replies, and one that rejects `response_format` without.
        """
        request: dict[str, Any] = {"model": self._model, "messages": list(messages)}
        if tools:
            request["tools"] = list(tools)
            request["tool_choice"] = "auto" if may_call else "none"
        before = self.usage
        try:
            return _numbered(await self._formatted(request, tell, response_format))
        except BaseException as error:
            known = error if isinstance(error, ModelError) else self._known(error)
            if self.usage is before and (known is None or known.code in _MAY_COST):
                self._count(None)
            if known is None or known is error:
                raise
            raise known from error

    async def _formatted(
        self,
        request: dict[str, Any],
        tell: Teller | None,
        response_format: Mapping[str, Any] | None,
    ) -> Choice:
        if response_format is not None and self._formats:
            try:
                return await self._asked({**request, "response_format": response_format}, tell)
            except Exception as error:
                if not rejects(error, "response_format"):
                    raise
                self._formats = False
        return await self._asked(request, tell)

    async def _asked(self, request: dict[str, Any], tell: Teller | None) -> Choice:
        if tell is None:
            return await self._whole(request)
        if self._streams:
            try:
                return await self._stream(request, tell)
            except Exception as error:
                if not rejects(error, "stream"):
                    raise
                self._streams = False
        return _told(await self._whole(request), tell)

    def _known(self, error: BaseException) -> ModelError | None:
        return model_error(error, self._url, self._secret)

    def _count(self, told: Any) -> None:
        self.usage = counted(self.usage, told, self._price)

    async def _whole(self, request: dict[str, Any]) -> Choice:
        # Read the raw answer, since the SDK's parser accepts answers outside the API's form.
        raw = await self._client.chat.completions.with_raw_response.create(**request)
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
        self._count(answer.get("usage"))
        choices = answer.get("choices")
        if not choices and answer.get("error"):
            raise said_by_body(answer["error"], self._url, self._secret)
        first = choices[0] if isinstance(choices, list) and choices else None
        if isinstance(first, dict) and first.get("error"):
            raise said_by_body(first["error"], self._url, self._secret)
        message = first.get("message") if isinstance(first, dict) else None
        if not isinstance(message, dict):
            raise self._unreadable("it has no message")
        assert isinstance(first, dict)
        return Choice(message, str(first.get("finish_reason") or ""))

    async def _stream(self, request: dict[str, Any], tell: Teller) -> Choice:
        options = {"stream": True, "stream_options": {"include_usage": True}}
        raw = await self._client.chat.completions.with_raw_response.create(**request, **options)
        response = raw.http_response
        if response.headers.get("content-type", "").startswith("application/json"):
            return _told(self._read(response, await response.aread()), tell)
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
            self._count(pieces.usage)
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


def _told(choice: Choice, tell: Teller) -> Choice:
    """Pass on the words of a reply that was not streamed."""
    if choice.words:
        tell(choice.words)
    return choice


def _numbered(choice: Choice) -> Choice:
    """Set a unique id for each call, since results refer to it; some servers send none."""
    calls = choice.message.get("tool_calls")
    if not isinstance(calls, list):
        return choice
    seen: set[str] = set()
    made = []
    for number, call in enumerate(calls, 1):
        if isinstance(call, dict):
            given = call.get("id")
            known = given if isinstance(given, str) and given and given not in seen else None
            name = known or next(n for n in _names(number) if n not in seen)
            seen.add(name)
            made.append({**call, "id": name})
        else:
            made.append(call)
    return Choice({**choice.message, "tool_calls": made}, choice.finish)


def _names(number: int) -> Sequence[str]:
    return [f"call_{number}", *(f"call_{number}_{again}" for again in range(1, 1000))]
