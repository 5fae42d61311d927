"""No page of another site reaches the server: only the exact Host and Origin pass."""

import asyncio
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kiosk import TOKEN, Kiosk

PATHS = ("/", "/health", "/enter", "/api/tools", "/api/session", "/api/tools/echo/call", "/mcp")
WORDS = ("127.0.0.1", "localhost", "0.0.0.0", "[::1]", "evil.example", "127.0.0.1.evil.example")


def texts() -> st.SearchStrategy[str]:
    """Names that are near the right one, and any other."""
    near = st.builds(
        lambda word, join, port, tail: f"{word}{join}{port}{tail}",
        st.sampled_from(WORDS), st.sampled_from((":", "", ".:", "@", " ")),
        st.sampled_from(("8787", "1", "080", "")), st.sampled_from(("", "/", " ", ".", "\t", "#")),
    )  # fmt: skip
    return near | st.text(st.characters(max_codepoint=255), max_size=30)


def ask(app: Any, method: str, path: str, headers: list[tuple[str, str]]) -> int:
    """Return the status of a request with exactly these headers."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(),
        "query_string": b"", "scheme": "http", "http_version": "1.1",
        "headers": [(k.encode("latin-1"), v.encode("latin-1")) for k, v in headers],
    }  # fmt: skip
    asyncio.run(app(scope, receive, send))
    return int(sent[0]["status"])


@settings(max_examples=10 * settings.default.max_examples, suppress_health_check=list(HealthCheck))
@given(
    method=st.sampled_from(("GET", "POST", "HEAD", "OPTIONS", "DELETE")),
    path=st.sampled_from(PATHS),
    host=texts(),
    origin=texts() | st.sampled_from(("null", "http://evil.example", "https://127.0.0.1")),
    foreign=st.sampled_from(("host", "origin", "both")),
)
def test_a_foreign_host_or_origin_is_never_answered(
    kiosk: Kiosk, method: str, path: str, host: str, origin: str, foreign: str
) -> None:
    own = f"127.0.0.1:{kiosk.port}"
    good = {own, f"localhost:{kiosk.port}"}
    host = own if foreign == "origin" else host
    headers = [("host", host), ("authorization", f"Bearer {TOKEN}"),
               ("content-type", "application/json")]  # fmt: skip
    if foreign != "host":
        headers.append(("origin", origin))
    if (host in good and foreign != "origin") or origin in {f"http://{name}" for name in good}:
        return
    if path == "/health" and method in {"GET", "HEAD"}:
        return  # a balancer's Host is its own

    assert ask(kiosk.server.app, method, path, headers) in {400, 403, 421}
