"""A web service on a socket of this machine, which keeps what it received, and a project."""

import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import uvicorn
from shop_app import build_app
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route

JSON = "application/json"
ODD = {
    "nan": (JSON, b'{"a": NaN, "b": 1}'),
    "digits": (JSON, b'{"a": ' + b"9" * 5000 + b"}"),
    "half": (JSON, b'{"a": "x\\ud83d"}'),
    "bom": (JSON, b'\xef\xbb\xbf{"a": 1}'),
    "latin": (f"{JSON}; charset=iso-8859-1", '{"a": "é"}'.encode("latin-1")),
    "unknown": (f"{JSON}; charset=base64", '{"a": "é"}'.encode()),
    "utf16": (JSON, '{"a": "é"}'.encode("utf-16")),
    "bytes": (JSON, b'{"a": "\xff"}'),
    "latin-text": ('text/plain; charset="latin1"', "é".encode("latin-1")),
    "undefined": (f"{JSON}; charset=undefined", b'{"a": 1}'),
    "broken": (JSON, b'{"a": '),
}


class EchoService:
    """Answers with what it received; some paths answer otherwise."""

    def __init__(self) -> None:
        self.received: list[dict[str, Any]] = []
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api"

    async def echo(self, request: Request) -> Response:
        body = await request.body()
        seen = {
            "method": request.method,
            "path": request.scope["raw_path"].decode(),
            "url": str(request.url),
            "query": parse_qsl(request.url.query, keep_blank_values=True),
            "headers": dict(request.headers),
            "body": body.decode(),
        }
        self.received.append(seen)
        return JSONResponse(seen)

    async def guarded(self, request: Request) -> Response:
        known = {
            "Bearer correct-token", "Basic YW5uOmNvcnJlY3QtdG9rZW4=", "correct-token"
        }  # fmt: skip
        given = {
            request.headers.get("authorization"), request.headers.get("x-key"),
            request.query_params.get("key"), request.cookies.get("session"),
        }  # fmt: skip
        if known & given:
            return JSONResponse({"allowed": True, "echo": sorted(map(str, given - {None}))})
        return JSONResponse({"detail": f"who is {given}?"}, 401)

    async def answer(self, request: Request) -> Response:
        match request.path_params["kind"]:
            case "redirect":
                return RedirectResponse(f"{self.url}/echo", 302)
            case "huge":
                return StreamingResponse(iter([b"x" * 65536] * 200), media_type="text/plain")
            case "slow":
                return StreamingResponse(_drip(), media_type="text/plain")
            case "text":
                return Response("plain words", media_type="text/plain")
            case "nothing":
                return Response(status_code=204)
            case "image":
                return Response(b"\x89PNG\xff", media_type="image/png")
            case kind if kind in ODD:
                return Response(ODD[kind][1], headers={"content-type": ODD[kind][0]})
            case "zipped":
                return Response(b"\x1f\x8b", headers={"content-encoding": "gzip"})
            case status:
                self.received.append({"status": status})
                return Response(f"no luck {'y' * 5000}", int(status))

    @contextmanager
    def open(self) -> Iterator["EchoService"]:
        every = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
        app = Starlette(
            routes=[
                Route("/api/guarded", self.guarded),
                Mount("/api/shop", build_app()),
                Route("/api/answer/{kind}", self.answer, methods=every),
                Route("/{path:path}", self.echo, methods=every),
            ]
        )
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", ws="none"))
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            self.port = listening.getsockname()[1]
            thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
            thread.start()
            while not server.started:
                time.sleep(0.01)
            try:
                yield self
            finally:
                server.should_exit = server.force_exit = True
                thread.join(10)


async def _drip() -> Any:
    import asyncio

    while True:
        yield b"."
        await asyncio.sleep(0.05)


class ServiceProject:
    """A project whose tools call services."""

    def __init__(self, root: Path, services: Mapping[str, str]) -> None:
        """`services` are the tables' texts by name."""
        self.root = root
        (root / "tools_md").mkdir()
        text = "\n".join(f"[services.{name}]\n{table}\n" for name, table in services.items())
        (root / "toolmd.toml").write_text(text)

    def tool(
        self, name: str, operation: str, parameters: Mapping[str, str], more: str = "",
        metadata: str = "",
    ) -> None:  # fmt: skip
        """Write a tool; each parameter is the text of its fields."""
        fields = "\n".join(
            f"### {each}\n\n- **Description**: The {each}\n{said}\n"
            for each, said in parameters.items()
        )
        text = (
            f"# {name}\n\nCalls a service.\n\n## Metadata\n\n- **Name**: {name}\n"
            f"- **Version**: 1.0.0\n- **Category**: test\n- **Implemented By**: {operation}\n"
            f"{metadata}\n## Parameters\n\n{fields or 'None'}\n\n## Returns\n\n"
            f"- **Description**: Anything\n{more}"
        )
        (self.root / "tools_md" / f"{name}.tool.md").write_text(text)


def json_of(seen: Mapping[str, Any]) -> Any:
    """Read the JSON body that the service received."""
    return json.loads(seen["body"])
