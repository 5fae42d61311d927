"""Ask the insurer over HTTP."""

from datetime import date
from typing import Any

import httpx

from toolmd import Context, ToolError

from .._clinic.clock import Data
from .._clinic.insurer import EligibilityService


async def check_insurance_eligibility(
    insurance_provider: str,
    member_id: str,
    service_date: date,
    *,
    service: EligibilityService,
    context: Context,
) -> Data:
    """Return the insurer's answer; without one, raise ToolError that nothing was checked."""
    day = service_date.isoformat()
    asked = {
        "insurance_provider": insurance_provider,
        "member_id": member_id,
        "service_date": day,
    }
    try:
        response = await context.http.post(f"{service.url}/eligibility", json=asked)
        response.raise_for_status()
        said = response.json()
        return _read(said, day)
    except httpx.TransportError as error:
        raise _unanswered(service, "did not answer", "eligibility_unreachable") from error
    except httpx.HTTPStatusError as error:
        what = f"answered with status {error.response.status_code}"
        raise _unanswered(service, what, "eligibility_failed") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _unanswered(service, "sent an unreadable answer", "eligibility_failed") from (error)


def _read(said: dict[str, Any], day: str) -> Data:
    if not isinstance(said["eligible"], bool):
        raise TypeError("eligible")
    return {
        "eligible": said["eligible"],
        "service_date": day,
        "plan": str(said.get("plan", "")),
        "copay_usd": float(said.get("copay_usd", 0)),
        "covered": [str(kind) for kind in said.get("covered", [])],
        "reason": str(said.get("reason", "")),
    }


def _unanswered(service: EligibilityService, what: str, code: str) -> ToolError:
    return ToolError(
        f"The insurer's desk at {service.url} {what}. Nothing was checked: tell the family that "
        "coverage is open, and ask again later.",
        code=code,
    )
