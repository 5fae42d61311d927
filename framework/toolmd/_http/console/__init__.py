"""The console: one static page, whose script uses the API as any other client does."""

from functools import cache
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolmd._auth import PAGE_POLICY
from toolmd._http.operations import ANY, OPEN
from toolmd._skills.graph import STYLE

ASSETS = {
    "page.html": "text/html",
    "console.css": "text/css",
    "graph.css": "text/css",
    "console.js": "text/javascript",
    "pages.js": "text/javascript",
    "forms.js": "text/javascript",
    "parts.js": "text/javascript",
    "mark.svg": "image/svg+xml",
}
"""The files of the console, and their types."""
PAGES = (
    "/", "/problems", "/tools/{name}", "/skills/{name}", "/pending", "/crises", "/runs",
    "/runs/{name}", "/audit",
)  # fmt: skip
"""The addresses that the script shows; the API decides what it may show."""
OPEN_PATHS = frozenset(("/enter", *(f"/assets/{name}" for name in ASSETS)))
"""Paths that need no session: they contain nothing of the project."""


def console_routes() -> list[tuple[str, Route]]:
    """Return what each route of the console needs, and the route."""
    return [
        (OPEN, Route("/enter", _page)),
        (OPEN, Route("/assets/{name}", _asset)),
        *((ANY, Route(path, _page)) for path in PAGES),
    ]


def page() -> bytes:
    """Return the page; without a session, its script says how to start one."""
    return _read("page.html")


@cache
def _read(name: str) -> bytes:
    if name == "graph.css":
        return STYLE.encode()
    return files(__package__).joinpath("assets", name).read_bytes()


async def _page(request: Request) -> Response:
    del request
    return _answer("page.html")


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    return _answer(name) if name in ASSETS else Response("Not found", 404)


def _answer(name: str) -> Response:
    headers = {"content-security-policy": PAGE_POLICY, "cache-control": "no-cache"}
    return Response(_read(name), headers=headers, media_type=f"{ASSETS[name]}; charset=utf-8")
