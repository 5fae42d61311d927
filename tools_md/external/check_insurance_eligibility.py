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
    cause: Exception
    try:
        response = await context.http.post(f"{service.url}/eligibility", json=asked)
        response.raise_for_status()
        return _read(response.json(), day)
    except httpx.TransportError as error:
        what, code, cause = "did not answer", "eligibility_unreachable", error
    except httpx.HTTPStatusError as error:
        what = f"answered with status {error.response.status_code}"
        code, cause = "eligibility_failed", error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        what, code, cause = "sent an unreadable answer", "eligibility_failed", error
    raise ToolError(
        f"The insurer's desk at {service.url} {what}. Nothing was checked: tell the family that "
        "coverage is open, and ask again later.",
        code=code,
    ) from cause


def _read(answer: dict[str, Any], day: str) -> Data:
    if not isinstance(answer["eligible"], bool):
        raise TypeError("eligible")
    return {
        "eligible": answer["eligible"],
        "service_date": day,
        "plan": str(answer.get("plan", "")),
        "copay_usd": float(answer.get("copay_usd", 0)),
        "covered": [str(kind) for kind in answer.get("covered", [])],
        "reason": str(answer.get("reason", "")),
    }
