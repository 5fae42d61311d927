"""Approvals: which calls another person must approve, who may, and for how long."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, NamedTuple

from toolmd._types.field import Row

ALWAYS = "always"
"""The condition of an approval that every call needs."""
DAY_S = 86400.0
LONGEST_S = 30 * DAY_S
"""The longest time that an approval may wait, in seconds."""
OPERATOR_GROUP = -1
"""The number of the review by an operator, beside those of a tool's approvals."""
_UNITS = (("day", 86400), ("hour", 3600), ("minute", 60))


def lasting(seconds: float) -> str:
    """Return a duration in words, as a file has it: `2 days`, `4 hours`, `90 s`."""
    for unit, many in _UNITS:
        if seconds % many == 0:
            number = int(seconds // many)
            return f"{number} {unit}{'' if number == 1 else 's'}"
    return f"{seconds:g} s"


def either(roles: Sequence[str]) -> str:
    """Return names in words: `support or manager`."""
    *others, last = roles
    return f"{', '.join(others)} or {last}" if others else last


@dataclass(frozen=True)
class Escalation:
    """A widening of who may approve, once nobody decided for a time."""

    after_s: float
    to: tuple[str, ...]
    """The roles that may approve from then on, too."""

    def __str__(self) -> str:
        """Return the escalation as a file has it: `after 4 hours to head_of_support`."""
        return f"after {lasting(self.after_s)} to {', '.join(self.to)}"


# fmt: off
@dataclass(frozen=True)
class Approval:
    """The condition under which another person must approve a call, and who that may be."""

    title: str = ""
    """The title of its group; empty for the only one of a file."""
    when: Annotated[str, Row(
        "condition", "The calls that need the approval. Write an expression, or `always`.",
        restricts=True)] = ALWAYS
    by: Annotated[tuple[str, ...] | str, Row(
        "approvers", "The people who may approve. Write roles, one of which suffices, or an "
        "expression over `approver`, `caller` and the arguments. Nobody approves their own call.",
        restricts=True)] = ()
    text: Annotated[str, Row(
        "line", "The question that the approver must answer. Each `{expression}` in it becomes a "
        "value. All arguments appear below the question.")] = ""
    expires_s: Annotated[float, Row(
        "term", "How long the call waits, at most 30 days. After that time, the call is denied.",
        "1 day",
        name="Expires", restricts=True, aliases=("Expires After", "Expires In"))] = DAY_S
    escalate: Annotated[tuple[Escalation, ...], Row(
        "escalations", "More roles that may approve if nobody has decided for some time, such as "
        "`after 4 hours to head_of_support`.", restricts=True,
        aliases=("Escalation", "Escalates"))] = ()
    # fmt: on

    def to_dict(self) -> dict[str, Any]:
        """Return the approval as canonical JSON; durations in seconds."""
        values = asdict(self)
        values["by"] = self.by if isinstance(self.by, str) else list(self.by)
        values["escalate"] = [{"after_s": one.after_s, "to": list(one.to)} for one in self.escalate]
        return {name: value for name, value in values.items() if value not in ("", [])}

    @classmethod
    def of(cls, values: dict[str, Any]) -> "Approval":
        """Return the approval that such JSON describes."""
        by, steps = values.get("by", ()), values.get("escalate", ())
        escalate = (Escalation(one["after_s"], tuple(one["to"])) for one in steps)
        return cls(**{**values, "by": by if isinstance(by, str) else tuple(by),
                      "escalate": tuple(escalate)})  # fmt: skip


class OpenApproval(NamedTuple):
    """An approval that a pending call needs."""

    number: int
    """Its place among the approvals of the tool; OPERATOR_GROUP for an operator's review."""
    reason: str
    """Its title, or its condition."""
    by: tuple[str, ...] | str
    """The roles that may approve, or the expression that says who may."""
    text: str = ""
    """What the approver is asked, with its values."""
    escalate: tuple[tuple[float, tuple[str, ...]], ...] = ()
    """When further roles may approve, in seconds since the epoch, and which."""

    @classmethod
    def of(cls, row: Sequence[Any]) -> "OpenApproval":
        """Return the approval that its values as JSON describe."""
        number, reason, by, text, escalate = row
        roles = by if isinstance(by, str) else tuple(by)
        return cls(number, reason, roles, text, tuple((at, tuple(to)) for at, to in escalate))

    @property
    def whose(self) -> str:
        """Who may approve at first, in words."""
        return "another person" if isinstance(self.by, str) else either(self.by)

    def roles(self, now: float) -> tuple[str, ...]:
        """Return the roles that may approve by now; empty where an expression says who may."""
        own = () if isinstance(self.by, str) else self.by
        more = (role for at, roles in self.escalate if at <= now for role in roles)
        return tuple(dict.fromkeys((*own, *more)))


OPERATORS_REVIEW = OpenApproval(OPERATOR_GROUP, "review", ("operator",))
"""The review of a crisis or a guard, which an operator gives beside the approvals."""


class Approved(NamedTuple):
    """A person's yes to a pending call."""

    user: str | None
    roles: tuple[str, ...]
    via: str | None
    at: float
    """In seconds since the epoch."""
    counts_for: tuple[int, ...]
    """The numbers of the approvals that the person may give; the yes counts for one of them."""


def count_covered(numbers: tuple[int, ...], given: tuple[Approved, ...]) -> int:
    """Return how many of these approvals are given, each by another person."""
    if not numbers:
        return 0
    first, rest = numbers[0], numbers[1:]
    found = [count_covered(rest, given)]
    for place, one in enumerate(given):
        if first in one.counts_for:
            found.append(1 + count_covered(rest, given[:place] + given[place + 1 :]))
    return max(found)
