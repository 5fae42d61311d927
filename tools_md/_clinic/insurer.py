"""Run a demonstration insurer, which answers eligibility requests over HTTP."""

import json
from datetime import date
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, NamedTuple

DEFAULT_PORT: Final = 8765
ELIGIBILITY_URL: Final = "CLINIC_ELIGIBILITY_URL"
"""The eligibility service; unset means the one that `toolmd clinic insurer` runs."""


class EligibilityService(NamedTuple):
    """The URL for eligibility requests: `POST {url}/eligibility`."""

    url: str = f"http://127.0.0.1:{DEFAULT_PORT}"


class Policy(NamedTuple):
    """An insurer's record of one member."""

    plan: str
    valid_until: date
    copay_usd: float
    covered: tuple[str, ...]


_FOREVER: Final = date(9999, 12, 31)
POLICIES: Final = {
    ("Lone Star Dental", "LSD-204418"): Policy(
        "Family Plus", _FOREVER, 15, ("exam", "cleaning", "exam_and_cleaning")
    ),
    ("Lone Star Dental", "LSD-310077"): Policy("Basic", _FOREVER, 40, ("exam", "emergency")),
    ("Bluebonnet Health", "BBH-55-1290"): Policy(
        "Kids First", _FOREVER, 0, ("exam", "cleaning", "exam_and_cleaning", "emergency")
    ),
    ("Bluebonnet Health", "BBH-55-0083"): Policy("Kids First", date(2020, 6, 30), 0, ("exam",)),
}
"""By insurer and member number; the last one has expired."""


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    """Return whether a member is covered on a day; `asked` contains the request's three fields."""
    insurer, member = asked["insurance_provider"], asked["member_id"]
    policy = POLICIES.get((insurer, member))
    if policy is None:
        return {"eligible": False, "reason": f"{insurer} has no member {member}."}
    if date.fromisoformat(asked["service_date"]) > policy.valid_until:
        reason = f"The policy ended on {policy.valid_until}."
        return {"eligible": False, "plan": policy.plan, "reason": reason}
    paid = {"copay_usd": policy.copay_usd, "covered": list(policy.covered)}
    return {"eligible": True, "plan": policy.plan, **paid}


def make_server(port: int) -> ThreadingHTTPServer:
    """Open the service on 127.0.0.1; port 0 uses a free one."""
    return ThreadingHTTPServer(("127.0.0.1", port), _Desk)


class _Desk(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status = HTTPStatus.OK if self.path == "/eligibility" else HTTPStatus.NOT_FOUND
        try:
            document = answer(json.loads(body))
        except (ValueError, KeyError, TypeError) as error:
            status, document = HTTPStatus.BAD_REQUEST, {"error": repr(error)}
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base's name
        """Log nothing: a request names a member."""
