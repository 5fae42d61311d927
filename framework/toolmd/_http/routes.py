"""Find the route of a request, check the right that it needs, and pass the request on."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router

from toolmd._auth import RIGHTS
from toolmd._http.api.errors import ApiError
from toolmd._http.api.rights import allows, needed, not_permitted

Denied = Callable[[Request, ApiError], Response]


class Routes(Router):
    """The routes of a server, without the middlewares and the wrappers of an application."""

    def __init__(self, routes: Mapping[Denied, Sequence[Route]], lifespan: Any) -> None:
        """Keep the routes; raise KeyError if one does not state what it needs.

        Args:
            routes: The routes, by the function that answers a request whose token lacks a right.
            lifespan: Returns the context that is open while the server runs.
        """
        pairs = [(route, denied) for denied, some in routes.items() for route in some]
        super().__init__([route for route, _ in pairs], lifespan=lifespan)
        self._fixed: dict[str, list[tuple[Route, Denied]]] = {}
        """The routes of paths without parameters."""
        self._others = [pair for pair in pairs if pair[0].param_convertors]
        for route, denied in pairs:
            for method in route.methods or ("*",):
                needed(method, route.path)
            if not route.param_convertors:
                self._fixed.setdefault(route.path, []).append((route, denied))

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve a request, or the lifespan of the server."""
        if scope["type"] == "lifespan":
            await self.lifespan(scope, receive, send)
            return
        try:
            route, denied = self._find(scope)
            needs = needed(scope["method"], route.path)
            rights = scope.get("state", {}).get(RIGHTS, frozenset())
        except ApiError as problem:
            await problem.answer()(scope, receive, send)
            return
        if allows(needs, rights):
            await route.app(scope, receive, send)
            return
        answer = denied(Request(scope, receive), not_permitted(needs, rights))
        await answer(scope, receive, send)

    def _find(self, scope: Any) -> tuple[Route, Denied]:
        """Return the route of a request, and set its parameters. Raises ApiError."""
        path, method, known = scope["path"], scope["method"], None
        for route, denied in self._fixed.get(path, self._others):
            found = route.path_regex.match(path)
            if not found:
                continue
            if route.methods is None or method in route.methods:
                # All parameters are texts.
                scope["path_params"] = found.groupdict()
                return route, denied
            known = known or route
        if known is None:
            detail = "nothing is at this address; /openapi.json names those of the API"
            raise ApiError(404, "no_such_route", detail)
        allow = {"Allow": ", ".join(known.methods or ())}
        raise ApiError(405, "method_not_allowed", "Method Not Allowed", headers=allow)
