"""Build the page of the HTTP API from its operations."""

import toolmd._http.api  # noqa: F401 - declares the operations
from toolmd._http.document import describe, describe_text
from toolmd._http.events import KINDS
from toolmd._http.operations import ANY, OPERATIONS, Operation

HEAD = """# HTTP

The API of `toolmd dev` and `toolmd serve --transport http`. For programs, `GET /openapi.json`
returns it as OpenAPI 3.1, with a path of its own for each tool and skill.

Every request needs the exact `Host` of the server and the token: `Authorization: Bearer TOKEN`. A
body is `application/json` of at most 512 KiB, without unknown keys. The token names the caller. The
header `Toolmd-Context-Patient` states the fact `patient`, if the token allows its value.
`Toolmd-Conversation` names the conversation. With the right `act_as`, `Toolmd-User` and
`Toolmd-Roles` name the user that it calls for.

[A token has rights](../how-to/tokens.md). With `operate` it sees the pending calls, runs and events
of all users, otherwise those of its own user. A request that needs another right is a 403
`not_permitted`, with the members `needs` and `may`.
"""
ROUTES = """## Routes

A right stands in italics behind the operations that need it. `/openapi.json` describes each
argument and each answer.

| route | does | arguments |
|---|---|---|
"""
CALLS = """A call or a run that ended is a 200 with any outcome: the model must read that a call was
denied (`denied`) or is pending (`confirm`, `review`). With `wait: false`, a run goes on in the
background after a 202 with its id. `POST /api/pending/{id}` takes the `decision` `approve`,
`edit`, `reject` or `respond`. `/ready` is 503 while the store can't be reached, and with
`serve.require_accepted` while a weaker policy waits for acceptance.
"""
PROBLEMS = """## Problems

A failed request returns problem details (RFC 9457): `type`, `title`, `status`, `detail`, and a
stable `code`. For an invalid body they include `errors`, a list of `{path, message}`; for an
unknown tool or pending call, the `result`.

| status | code |
|---|---|
"""
CODES = {
    400: ("malformed_request",),
    401: ("unauthorized",),
    403: ("foreign_origin", "context_not_allowed", "not_permitted"),
    404: (
        *("unknown_tool", "unknown_skill", "unknown_run", "unknown_dialect", "unknown_name"),
        *("confirmation_not_found", "no_held_edit", "not_found", "no_such_route"),
    ),
    405: ("method_not_allowed",),
    408: ("too_slow",),
    413: ("too_large",),
    415: ("unsupported_media_type",),
    421: ("foreign_host",),
    500: ("internal_error",),
    503: ("store_unreachable", "too_many_streams", "unavailable", "no_mcp"),
}
EVENTS = """## Events

`GET /api/events` is a stream of server-sent events; `data` is a JSON object. Send `Last-Event-ID`
to continue an interrupted stream, as `EventSource` does by itself: the server keeps the latest
1,000 events. It sends a comment every 15 seconds, and disconnects a client that reads nothing for
30 seconds.

| event | data | sent when |
|---|---|---|
"""


def http_page() -> str:
    """Build the page: each route, each problem and each event."""
    events = "".join(f"| `{kind}` | {data} | {when} |\n" for kind, (data, when) in KINDS.items())
    codes = "".join(
        f"| {n} | {', '.join(f'`{c}`' for c in known)} |\n" for n, known in CODES.items()
    )
    rows = "".join(map(_row, OPERATIONS))
    return "\n".join([HEAD, ROUTES + rows, CALLS, PROBLEMS + codes, EVENTS + events])


def _row(operation: Operation) -> str:
    """Return a row of the table of routes: the route, what it does, its arguments, the right."""
    mark = "" if operation.needs == ANY else f" *{operation.needs}*"
    summary, _ = describe_text(operation, with_right=False)
    queries = (one for one in describe(operation)["parameters"] if one["in"] == "query")
    names = [f"`?{one['name']}`" for one in queries]
    if operation.body is not None:
        names += [f"`{name}`" for name in operation.body.model_fields]
    path = f"`{operation.method} {operation.path}`"
    return f"| {path} | {summary}{mark} | {', '.join(names)} |\n"
