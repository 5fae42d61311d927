"""The right that each route needs, in one table."""

from functools import cache

from toolmd._auth import ALL_RIGHTS
from toolmd._http.api.errors import ApiError

OPEN = "no token"
ANY = " or ".join(ALL_RIGHTS)
"""A valid token: it sees what belongs to its own user."""
NEEDS = {
    "GET /health": OPEN,
    "GET /ready": OPEN,
    "GET /openapi.json": ANY,
    "POST /api/session": OPEN,
    "GET /api/tools": ANY,
    "GET /api/tools/{name}": ANY,
    "POST /api/tools/{name}/call": "call",
    "GET /api/skills": ANY,
    "GET /api/skills/{name}": ANY,
    "POST /api/skills/{name}/run": "call",
    "POST /api/handle": "call",
    "GET /api/pending": ANY,
    # One's own needs `decide`, another user's `operate`.
    "POST /api/pending/{id}": "decide or operate",
    "GET /api/runs": ANY,
    "GET /api/runs/{id}": ANY,
    # One's own needs any of the two, another user's `operate`.
    "POST /api/runs/{run}/resume": "call or operate",
    "POST /api/runs/{run}/cancel": "call or operate",
    "GET /api/events": ANY,
    "GET /api/exports/{target}": ANY,
    "GET /api/diagnostics": "operate",
    "GET /api/changes": "operate",
    "POST /api/changes/{name}/accept": "operate",
    "GET /api/fleet": "operate",
    "GET /api/crises": "operate",
    "POST /api/crises/clear": "operate",
    "GET /api/audit": "operate",
    "GET /api/audit/verify": "operate",
    # An answer to a question of MCP needs `decide` in addition.
    "* /mcp": "call",
    # The console shows the calls of all users and their context.
    "GET /enter": OPEN,
    "GET /assets/{name}": OPEN,
    "GET /": "operate",
    "GET /problems": "operate",
    "GET /tools/{name}": "operate",
    "GET /skills/{name}": "operate",
    "GET /pending": "operate",
    "GET /crises": "operate",
    "GET /runs": "operate",
    "GET /runs/{run_id}": "operate",
    "GET /fleet": "operate",
    "GET /audit": "operate",
    # Its forms act for any user.
    "POST /view/tools/{name}/try": "call and operate",
    "POST /view/tools/{name}/examples": "call and operate",
    "POST /view/pending/{confirmation_id}": "decide and operate",
    "POST /view/changes/{name}": "operate",
    "POST /view/crises/clear": "operate",
    "POST /view/skills/{name}/run": "call and operate",
    "POST /view/runs/{run_id}/cancel": "operate",
    "POST /view/runs/{run_id}/resume": "operate",
}
"""Each route, and what a token needs for it: one right, one of several, or all of several."""


def needed(method: str, path: str) -> str:
    """Return what a route needs; raise KeyError for one that the table does not have."""
    path = path.replace(":path}", "}")
    return NEEDS.get(f"* {path}") or NEEDS[f"{'GET' if method == 'HEAD' else method} {path}"]


@cache
def allows(needs: str, rights: frozenset[str]) -> bool:
    """Return whether a token with these rights may use a route."""
    return needs == OPEN or any(
        set(all_of.split(" and ")) <= rights for all_of in needs.split(" or ")
    )


def not_permitted(needs: str, rights: frozenset[str]) -> ApiError:
    """Return the problem that names the missing right."""
    may = [right for right in ALL_RIGHTS if right in rights]
    detail = f"This needs a token that may {needs}; yours may {' and '.join(may)}."
    return ApiError(403, "not_permitted", detail, needs=needs, may=may)
