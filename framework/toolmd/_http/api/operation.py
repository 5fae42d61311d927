"""One operation of the API: its route, parameters and answers."""

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolmd._auth import CALLER, RIGHTS
from toolmd._http.api.body import read_json
from toolmd._http.api.errors import ApiError
from toolmd._http.api.rights import OPEN, needed
from toolmd._http.api.wire import json_bytes
from toolmd._types.call import NOBODY, Caller
from toolmd.errors import ArgumentError, NotFoundError, ToolmdError, logged


class Body(BaseModel):
    """The JSON object of a request: unknown keys are rejected and types are strict."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Number(NamedTuple):
    """An integer in the query."""

    name: str
    summary: str
    default: int
    least: int
    most: int


class Text(NamedTuple):
    """A text in the query."""

    name: str
    summary: str
    repeatable: bool = False


class ApiRequest(NamedTuple):
    """An authenticated request."""

    request: Request
    caller: Caller
    rights: frozenset[str]
    """What the token may do."""
    body: Any
    """The parsed body of the operation."""
    numbers: Mapping[str, int]
    """The integers of the query, by name."""

    @property
    def name(self) -> str:
        """The last part of the path: a name or an id."""
        return str(next(iter(self.request.path_params.values())))

    @property
    def theirs(self) -> str | None:
        """The user whose data is visible; None for an operator, who sees all."""
        return None if "operate" in self.rights else self.caller.user

    def text(self, parameter: str) -> str | None:
        """Return a text of the query."""
        return self.request.query_params.get(parameter)

    def names(self, parameter: str) -> list[str]:
        """Return the names of a repeatable parameter of the query."""
        return self.request.query_params.getlist(parameter)


Act = Callable[[ApiRequest], Awaitable[Any]]
_JSON = (b"content-type", b"application/json")


class Operation(NamedTuple):
    """An action of the API, at one path and method."""

    method: str
    path: str
    """The path as in OpenAPI: `/api/tools/{name}`."""
    id: str
    summary: str
    act: Act
    """A function that returns the JSON value of the answer, or a Response."""
    gives: str
    """The name of the answer's schema in the document; empty without a body."""
    body: type[Body] | None = None
    problems: tuple[int, ...] = ()
    """The statuses of the operation's own errors, without those of authentication."""
    query: tuple[Number | Text, ...] = ()
    status: int = 200
    kind: str = "application/json"
    details: str = ""
    tagged: bool = False
    """Whether its answer has an ETag, and is 304 if the client has the current version."""

    @property
    def needs(self) -> str:
        """What a token needs for it."""
        return needed(self.method, self.path)

    def route(self) -> Route:
        """Return the route."""
        # A run's question is named `RUN/KEY`.
        path = self.path.replace("{id}", "{id:path}") if self.path.endswith("{id}") else self.path
        app: Any = self
        return Route(path, app, methods=[self.method])

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, as an ASGI app."""
        given = await self._answered(Request(scope, receive))
        if isinstance(given, Response):
            await given(scope, receive, send)
            return
        headers = [_JSON, (b"content-length", b"%d" % len(given))]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": given})

    async def _answered(self, request: Request) -> bytes | Response:
        try:
            given = await self.act(await self._asked(request))
            return given if isinstance(given, Response) else json_bytes(given)
        except ApiError as problem:
            return problem.answer()
        except NotFoundError as error:
            return ApiError(404, "not_found", str(error)).answer()
        except ArgumentError as error:
            if HTTPStatus.BAD_REQUEST in self.problems:
                return ApiError(400, "malformed_request", str(error)).answer()
            return ApiError(404, "not_found", str(error)).answer()
        except ToolmdError as error:
            return ApiError(503, "unavailable", str(error)).answer()
        except Exception as error:  # noqa: BLE001 - answered with a reference, never a trace
            reference = logged(error, "%s failed", self.id)
            detail = f"The server failed; its log has the reason under {reference}."
            return ApiError(500, "internal_error", detail).answer()

    async def _asked(self, request: Request) -> ApiRequest:
        state = request.scope.get("state", {})
        caller, rights = state.get(CALLER), state.get(RIGHTS, frozenset())
        if self.needs != OPEN:
            self._check_query(request.query_params)
        numbers = {q.name: _number(request, q) for q in self.query if isinstance(q, Number)}
        body = None if self.body is None else _fitting(self.body, await read_json(request))
        return ApiRequest(request, caller or NOBODY, rights, body, numbers)

    def _check_query(self, given: QueryParams) -> None:
        known = {query.name: query for query in self.query}
        for name in given:
            if name not in known:
                named = f"known ones: {', '.join(known)}" if known else "there is none"
                detail = f"The parameter {name[:40]!r} is unknown here; {named}."
                raise ApiError(400, "malformed_request", detail)
            query = known[name]
            if len(given.getlist(name)) > 1 and not (isinstance(query, Text) and query.repeatable):
                detail = f"The parameter {name!r} is given twice; give it once."
                raise ApiError(400, "malformed_request", detail)


def _number(request: Request, wanted: Number) -> int:
    given = request.query_params.get(wanted.name)
    if given is None:
        return wanted.default
    if given.isascii() and given.isdigit() and len(given) < 16:  # noqa: PLR2004 - below 2^53
        number = int(given)
        if wanted.least <= number <= wanted.most:
            return number
    detail = f"{wanted.name} must be an integer from {wanted.least} to {wanted.most}."
    raise ApiError(400, "malformed_request", detail)


def _fitting(kind: type[Body], value: Any) -> Body:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        said: dict[str, list[str]] = {}
        for found in error.errors(include_url=False, include_context=False, include_input=False):
            # After the key, a location may name the tried type.
            said.setdefault(str(*found["loc"][:1]), []).append(_said(kind, found))
        problems = [{"path": key, "message": " or ".join(told)} for key, told in said.items()]
        first = problems[0]
        told = f"{first['path']}: {first['message']}" if first["path"] else first["message"]
        raise ApiError(400, "malformed_request", f"The body: {told}", errors=problems) from None


def _said(kind: type[Body], found: Mapping[str, Any]) -> str:
    match found["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return f"is an unknown key; known keys: {', '.join(kind.model_fields) or 'none'}"
        case "model_type":
            return "Input should be a JSON object"
        case "dict_type":
            return "Input should be an object"
        case _:
            return str(found["msg"])
