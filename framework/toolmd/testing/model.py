"""A model that follows a script, in the same process or behind an endpoint on 127.0.0.1."""

import asyncio
import json
import re
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self


class ScriptedModel:
    """A model that returns the given replies in order and records its requests."""

    def __init__(self, *replies: Any) -> None:
        self._replies = list(replies)
        self.heard: list[Any] = []

    async def __call__(self, messages: Any) -> Any:
        """Return the next reply.

        Raises:
            AssertionError: The script has no more replies.
        """
        self.heard.append(messages)
        if not self._replies:
            raise AssertionError("the script has no more replies")
        return self._replies.pop(0)


def asking(*calls: tuple[str, Any], text: str = "") -> dict[str, Any]:
    """Build an assistant's message with tool calls, each a name and its arguments.

    Args:
        calls: The calls; arguments that are text stay as they are, so that they can be broken JSON.
        text: The text next to the calls.
    """
    written = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": given if isinstance(given, str) else json.dumps(given),
            },
        }
        for number, (name, given) in enumerate(calls, 1)
    ]
    return {"role": "assistant", "content": text or None, "tool_calls": written}


class RawReply(NamedTuple):
    """A raw HTTP answer in place of a message: an error, an HTML page, or no answer."""

    status: int
    """The HTTP status; 0 keeps the connection open without an answer."""
    body: str = ""
    """The body, sent unchanged."""
    headers: Mapping[str, str] = {}
    """The headers, such as `content-type`."""


class ModelServer:
    """An OpenAI-compatible endpoint on 127.0.0.1 with a scripted model.

    A reply is text, an assistant's message (`asking` builds one), a choice with its `message`,
    `finish_reason` and the answer's `usage`, or a RawReply. It is streamed if the client requests
    that. Use the server in a `with` statement.
    """

    def __init__(self, *replies: Any) -> None:
        self.model = ScriptedModel(*replies)
        """The scripted model."""
        self.keys: list[str] = []
        """The `Authorization` header of each request."""
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self

    @property
    def base_url(self) -> str:
        """The base URL for a client."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def heard(self) -> list[Any]:
        """The body of each request, as JSON."""
        return self.model.heard

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: Any, key: str) -> Any:
        """Return the script's reply.

        Args:
            request: The body of the request.
            key: The API key that it carried.
        """
        self.keys.append(key)
        try:
            reply = asyncio.run(self.model(request))
        except AssertionError as error:
            # Not a 5xx status: a client would retry.
            return RawReply(400, json.dumps({"error": {"message": str(error)}}))
        if isinstance(reply, RawReply):
            if not reply.status:
                self._closing.wait()
            return reply
        return _choice(reply)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    owner: ModelServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log nothing: in many tests the client disconnects during an answer."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        """Answer `POST /v1/chat/completions`."""
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path != "/v1/chat/completions":
            self._send(404, "application/json", '{"error": {"message": "no such page"}}')
            return
        reply = self.server.owner.answer(request, self.headers.get("authorization", ""))
        if isinstance(reply, RawReply):
            if reply.status:
                kind = reply.headers.get("content-type", "application/json")
                self._send(reply.status, kind, reply.body, reply.headers)
        elif request.get("stream"):
            events = [f"data: {json.dumps(chunk)}" for chunk in _chunks(request, reply)]
            self._send(200, "text/event-stream", "\n\n".join([*events, "data: [DONE]", ""]))
        else:
            whole = _whole(request, reply)
            self._send(200, "application/json", json.dumps(whole))

    def _send(
        self, status: int, kind: str, text: str, headers: Mapping[str, str] | None = None
    ) -> None:
        body = text.encode()
        self.send_response(status)
        more = {k: v for k, v in (headers or {}).items() if k != "content-type"}
        for name, value in {"content-type": kind, "content-length": str(len(body)), **more}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *values: object) -> None:  # noqa: A002 - the base's name
        """Log nothing."""


def _choice(reply: Any) -> dict[str, Any]:
    if isinstance(reply, dict) and "message" in reply:
        return {"finish_reason": "stop", **reply}
    message = {"role": "assistant", "content": reply} if isinstance(reply, str) else reply
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    return {"message": message, "finish_reason": finish}


def _head(request: Any, kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 0, "model": request.get("model")}


def _whole(request: Any, reply: Mapping[str, Any]) -> dict[str, Any]:
    choice = {key: value for key, value in reply.items() if key != "usage"}
    usage = {"usage": reply["usage"]} if "usage" in reply else {}
    return {**_head(request, "chat.completion"), "choices": [{"index": 0, **choice}], **usage}


def _chunks(request: Any, choice: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Split an answer into the chunks of a stream: single words, and halves of arguments."""

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        piece = {"index": 0, "delta": delta, "finish_reason": finish}
        return {**_head(request, "chat.completion.chunk"), "choices": [piece]}

    message = choice["message"]
    yield chunk({"role": "assistant", "content": ""})
    for words in filter(None, re.findall(r"\S*\s*", message.get("content") or "")):
        yield chunk({"content": words})
    for index, call in enumerate(message.get("tool_calls") or ()):
        function = call["function"]
        half = len(function["arguments"]) // 2
        first = {"name": function["name"], "arguments": function["arguments"][:half]}
        rest = {"arguments": function["arguments"][half:]}
        named = {"index": index, "id": call["id"], "type": "function", "function": first}
        yield chunk({"tool_calls": [named]})
        yield chunk({"tool_calls": [{"index": index, "function": rest}]})
    yield chunk({}, choice["finish_reason"])
    if "usage" in choice and (request.get("stream_options") or {}).get("include_usage"):
        head = _head(request, "chat.completion.chunk")
        yield {**head, "choices": [], "usage": choice["usage"]}
