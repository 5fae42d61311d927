"""An operation of the API: its declaration, request, answer and errors, and the routes to them."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.datastructures import QueryParams
from starlette.responses import Response
from starlette.routing import Route, Router

from toolmd._auth import ALL_RIGHTS, CALLER, RIGHTS, problem
from toolmd._types.call import NOBODY, Caller
from toolmd._types.result import json_bytes
from toolmd._validation.strict_json import read_json
from toolmd.errors import ArgumentError, NotFoundError, ToolmdError, logged

OPEN = "no token"
ANY = " or ".join(ALL_RIGHTS)
"""A valid token: it sees what belongs to its own user."""
PROBLEM = "application/problem+json"
MAX_BODY = 512 * 1024
"""The most bytes of a request; a model's reply may have 256 KiB."""
MAX_DEPTH = 64
"""The most levels of a request; a reply, or a call's arguments in it, has fewer."""


class ApiError(Exception):
    """An error of a request as problem details (RFC 9457); its `code` is stable."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        """Store the error; `more` are members in addition to the standard ones."""
        super().__init__(detail)
        self.problem = problem(HTTPStatus(status), code, detail, **more)
        self._headers = headers

    def answer(self) -> Response:
        """Return the response."""
        return Response(json_bytes(self.problem), self.problem["status"], self._headers, PROBLEM)


class Body(BaseModel):
    """The JSON object of a request: unknown keys are rejected and types are strict."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Nothing(Body):
    """An empty body."""


class ApiRequest(NamedTuple):
    """An authenticated request."""

    scope: Any
    """The ASGI scope."""
    caller: Caller
    rights: frozenset[str]
    """What the token may do."""
    body: Any = None
    """The body, as the model of the operation."""
    query: Any = None
    """The query, as the model of the operation."""

    @property
    def name(self) -> str:
        """The parameter of the path: a name or an id."""
        return str(next(iter(self.scope["path_params"].values())))

    @property
    def visible_user(self) -> str | None:
        """The user whose data is visible; None for an operator, who sees all."""
        return None if "operate" in self.rights else self.caller.user


Act = Callable[[Any, ApiRequest], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Operation:
    """An action of the API, as `@operation` declares it; the docstring of `act` describes it."""

    act: Act
    """A method that returns the answer's JSON value, its JSON as bytes, or a Response."""
    method: str
    path: str
    """The path as in OpenAPI: `/api/tools/{name}`."""
    needs: str
    """What a token needs for it: one right, one of several, or all of several."""
    gives: str
    """The name of the answer's schema in the document; empty without a body."""
    body: type[Body] | None
    query: type[BaseModel] | None
    problems: tuple[int, ...]
    """The statuses of its own errors, besides those of its path, query and body."""
    kind: str
    """The media type of the answer."""

    @property
    def id(self) -> str:
        """The operationId: the method's name in camel case."""
        return re.sub(r"_(\w)", lambda found: found[1].upper(), self.act.__name__)

    @property
    def status(self) -> int:
        """The status of a success."""
        return HTTPStatus.OK if self.gives else HTTPStatus.NO_CONTENT

    def route(self, owner: Any) -> tuple[str, Route]:
        """Return what the route of this operation needs, and the route; `owner` has the method."""
        # A run's question is named `RUN/KEY`.
        path = self.path.replace("{id}", "{id:path}") if self.path.endswith("{id}") else self.path

        return self.needs, Route(path, Endpoint(self, owner), methods=[self.method])


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The ASGI app of one operation; around a function, Starlette would put two more."""

    operation: Operation
    owner: Any

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one authenticated request."""
        operation = self.operation
        try:
            value = await operation.act(self.owner, await self._read(scope, receive))
            if not isinstance(value, bytes | Response):
                value = json_bytes(value)
        except ApiError as error:
            value = error.answer()
        except NotFoundError as error:
            value = ApiError(404, "not_found", str(error)).answer()
        except ArgumentError as error:
            value = ApiError(400, "malformed_request", str(error)).answer()
        except ToolmdError as error:
            value = ApiError(503, "unavailable", str(error)).answer()
        except Exception as error:  # noqa: BLE001 - answered with a reference, never a trace
            reference = logged(error, "%s failed", operation.id)
            detail = f"The server failed; its log has the reason under {reference}."
            value = ApiError(500, "internal_error", detail).answer()
        if isinstance(value, Response):
            await value(scope, receive, send)
            return
        length = b"%d" % len(value)
        headers = [(b"content-type", b"application/json"), (b"content-length", length)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": value})

    async def _read(self, scope: Any, receive: Any) -> ApiRequest:
        operation, state = self.operation, scope.get("state", {})
        query = None if operation.needs == OPEN else _read_query(scope, operation.query)
        kind = operation.body
        body = None if kind is None else _validate(kind, await _read_body(receive))
        caller, rights = state.get(CALLER) or NOBODY, state.get(RIGHTS, frozenset())
        return ApiRequest(scope, caller, rights, body, query)


OPERATIONS: list[Operation] = []
"""Every operation, in the order of the declarations."""


def operation(  # noqa: PLR0913 - one declaration, by keyword
    route: str,
    needs: str,
    gives: str = "",
    *,
    body: type[Body] | None = None,
    query: type[BaseModel] | None = None,
    problems: tuple[int, ...] = (),
    kind: str = "application/json",
) -> Callable[[Act], Act]:
    """Declare a method as the operation of a route, such as `GET /api/tools/{name}`."""
    method, path = route.split()

    def declare(act: Act) -> Act:
        OPERATIONS.append(Operation(act, method, path, needs, gives, body, query, problems, kind))
        return act

    return declare


class Routes(Router):
    """Find the route of a request, check the right that it needs, and pass the request on."""

    def __init__(self, routes: Iterable[tuple[str, Route]], lifespan: Any) -> None:
        """Store the routes, each with what it needs.

        Args:
            routes: What each route needs, and the route.
            lifespan: Returns the context that is open while the server runs.
        """
        self.pairs = list(routes)
        super().__init__([route for _, route in self.pairs], lifespan=lifespan)
        self._fixed: dict[str, list[tuple[str, Route]]] = {}
        """The routes of paths without parameters."""
        self._others = [pair for pair in self.pairs if pair[1].param_convertors]
        for pair in self.pairs:
            if not pair[1].param_convertors:
                self._fixed.setdefault(pair[1].path, []).append(pair)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve a request, or the lifespan of the server."""
        if scope["type"] == "lifespan":
            await self.lifespan(scope, receive, send)
            return
        try:
            needs, route = self._find(scope)
            check_rights(needs, scope.get("state", {}).get(RIGHTS, frozenset()))
        except ApiError as error:
            await error.answer()(scope, receive, send)
            return
        await route.app(scope, receive, send)

    def _find(self, scope: Any) -> tuple[str, Route]:
        """Return the route of a request, and set its parameters. Raises ApiError."""
        path, method, known = scope["path"], scope["method"], None
        for needs, route in self._fixed.get(path, self._others):
            found = route.path_regex.match(path)
            if not found:
                continue
            if route.methods is None or method in route.methods:
                # All parameters are texts.
                scope["path_params"] = found.groupdict()
                return needs, route
            known = known or route
        if known is None:
            detail = "nothing is at this address; /openapi.json names those of the API"
            raise ApiError(404, "no_such_route", detail)
        allow = {"Allow": ", ".join(known.methods or ())}
        raise ApiError(405, "method_not_allowed", "Method Not Allowed", allow)


@cache
def allows(needs: str, rights: frozenset[str]) -> bool:
    """Return whether a token with these rights may use a route."""
    return needs == OPEN or any(
        set(all_of.split(" and ")) <= rights for all_of in needs.split(" or ")
    )


def check_rights(needs: str, rights: frozenset[str]) -> None:
    """Raise ApiError that names the missing right."""
    if not allows(needs, rights):
        may = [right for right in ALL_RIGHTS if right in rights]
        detail = f"This needs a token that may {needs}; yours may {' and '.join(may)}."
        raise ApiError(403, "not_permitted", detail, needs=needs, may=may)


async def _read_body(receive: Any) -> Any:
    """Return the JSON value of a body: UTF-8, no duplicate keys, no NaN or Infinity."""
    data = bytearray()
    message = await receive()
    while message["type"] == "http.request":
        data += message.get("body", b"")
        if len(data) > MAX_BODY:
            raise ApiError(413, "too_large", f"The body is larger than {MAX_BODY // 1024} KiB.")
        if not message.get("more_body", False):
            try:
                # A call or a reply with an unpaired surrogate is denied, and recorded, by the core.
                return read_json(data.decode(), depth=MAX_DEPTH, halves=True)
            except ValueError as error:
                raise malformed(f"The body is not JSON: {error}") from None
        message = await receive()
    raise malformed("The body was cut off.")


def _read_query(scope: Any, kind: type[BaseModel] | None) -> Any:
    """Return the parameters of the query; each one is known and given once."""
    if kind is None and not scope["query_string"]:
        return None
    given = QueryParams(scope["query_string"])
    known: Mapping[str, Any] = {} if kind is None else kind.model_fields
    values: dict[str, Any] = {}
    for name in given:
        if name not in known:
            names = f"known ones: {', '.join(known)}" if known else "there is none"
            raise malformed(f"The parameter {name[:40]!r} is unknown here; {names}.")
        values[name] = every = given.getlist(name)
        if known[name].annotation != list[str]:
            if len(every) > 1:
                raise malformed(f"The parameter {name!r} is given twice; give it once.")
            values[name] = every[0]
    return None if kind is None else _validate(kind, values, "The parameter ")


def _validate(kind: type[BaseModel], value: Any, what: str = "The body: ") -> Any:
    """Return a value as a model; raise ApiError with each problem."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        messages: dict[str, list[str]] = {}
        for one in error.errors(include_url=False, include_context=False, include_input=False):
            # After the key, a location may name the tried type.
            messages.setdefault(str(*one["loc"][:1]), []).append(_message(kind, one))
        problems = [{"path": key, "message": " or ".join(some)} for key, some in messages.items()]
        first = ": ".join(filter(None, problems[0].values()))
        raise malformed(what + first, errors=problems) from None


def _message(kind: type[BaseModel], found: Mapping[str, Any]) -> str:
    known = ", ".join(kind.model_fields) or "none"
    return {
        "missing": "is missing",
        "extra_forbidden": f"is an unknown key; known keys: {known}",
        "model_type": "Input should be a JSON object",
        "dict_type": "Input should be an object",
    }.get(found["type"], str(found["msg"]))


def malformed(detail: str, **more: Any) -> ApiError:
    """Return the error of a request that does not have the form of its operation."""
    return ApiError(400, "malformed_request", detail, **more)
