"""Build the page of the HTTP API from its operations."""

import toolmd._http.api  # noqa: F401 - declares the operations
from toolmd._http.document import describe, describe_text
from toolmd._http.events import KINDS
from toolmd._http.operations import ANY, OPERATIONS, Operation

HEAD = """# HTTP

The API of `toolmd dev` and `toolmd serve --transport http`. For programs, `GET /openapi.json`
returns it as OpenAPI 3.1, with a path of its own for each tool and skill.

Every request needs the exact `Host` of the server and the token: `Authorization: Bearer TOKEN`. A
body is `application/json` of at most 512 KiB; unknown keys are rejected. The token names the
caller. The header `Toolmd-Context-Patient` states the fact `patient`, if the token allows its
value. `Toolmd-Conversation` names the conversation, for a
**Quota** per conversation.
With the right `act_as`, `Toolmd-User` and `Toolmd-Roles` name the user that it calls for.

A token may `call`, `decide`, `operate` or `act_as`, as `serve.tokens` says; a JWT may what the
table `[[identity.issuers]]` gives it. With `operate` it sees the pending calls, runs and events of
all users, otherwise those of its own user. A request that needs another right is a 403
`not_permitted`, with the members `needs` and `may`.
"""
ROUTES = """## Routes

A right stands in italics behind the operations that need it. `/openapi.json` has the schema of each
answer. These routes take no arguments beside their path:

| route | does |
|---|---|
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
    sections = [_route(operation) for operation in OPERATIONS]
    rows = "".join(one for one in sections if one.startswith("|"))
    others = [one for one in sections if not one.startswith("|")]
    return "\n".join([HEAD, ROUTES + rows, *others, PROBLEMS + codes, EVENTS + events])


def _route(operation: Operation) -> str:
    """Return a section of the page, or a row of its table if a line says it all."""
    mark = "" if operation.needs == ANY else f" *{operation.needs}*"
    path = f"`{operation.method} {operation.path}`"
    summary, details = describe_text(operation, with_right=False)
    items = [
        f"- `?{one['name']}=`: {one['description']}"
        for one in describe(operation)["parameters"]
        if one["in"] == "query"
    ]
    if operation.body is not None:
        for name, field in operation.body.model_fields.items():
            needed = ", required" if field.is_required() else ""
            items.append(f"- `{name}`{needed}: {field.description}")
    if not details and not items:
        return f"| {path} | {summary}{mark} |\n"
    parts = [f"### {path}", f"{summary}{mark}", details, "\n".join(items)]
    return "\n\n".join(filter(None, parts)) + "\n"
