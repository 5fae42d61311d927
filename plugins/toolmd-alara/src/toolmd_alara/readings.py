"""Recognize readings in a dangerous range, and propose what to ask; this is no diagnosis."""

from typing import NamedTuple

SYSTOLIC_HIGH, DIASTOLIC_HIGH = 180, 120
"""From here on, mmHg. Source: American Heart Association, understanding blood pressure readings."""
SYSTOLIC_LOW = 90
"""Up to here, mmHg: 3 points of the score. Source: Royal College of Physicians, NEWS2."""
PULSE_FAST, PULSE_SLOW = 131, 40
"""From and up to here, beats per minute: 3 points of the score. Source: as above."""

_HIGH = (
    "chest pain, shortness of breath, back pain, numbness or weakness, trouble seeing or speaking"
)
_OTHER = "fainting, chest pain, shortness of breath, confusion"


class Attention(NamedTuple):
    """What a reading calls for, which the log can't decide."""

    warning: str
    """That the reading is in a dangerous range, and why."""
    proposals: list[str]
    """What to ask the user, and what to propose."""


def attention(systolic: int, diastolic: int, pulse: int | None) -> Attention | None:
    """Return what a reading calls for; None outside of the dangerous ranges."""
    high = systolic >= SYSTOLIC_HIGH or diastolic >= DIASTOLIC_HIGH
    found = []
    for true, what in (
        (high, f"{systolic}/{diastolic} is very high"),
        (systolic <= SYSTOLIC_LOW, f"{systolic}/{diastolic} is very low"),
        (pulse is not None and pulse >= PULSE_FAST, f"a pulse of {pulse} is very fast"),
        (pulse is not None and pulse <= PULSE_SLOW, f"a pulse of {pulse} is very slow"),
    ):
        found += [what] if true else []
    if not found:
        return None
    signs = _HIGH if high else _OTHER
    return Attention(
        f"This reading is in a dangerous range: {', and '.join(found)}. "
        "The log does not know the reason, and this is not a diagnosis.",
        [
            f"Ask the user now whether they have any of these: {signs}.",
            "If they have, they should call the emergency number at once.",
            "If not, they should rest for five minutes, measure again, and log the second reading.",
            "If it stays in this range, they should call their doctor or a medical helpline today.",
            "Nobody should change a medication because of this log.",
        ],
    )
