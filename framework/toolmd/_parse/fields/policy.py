"""The field table's rows of a tool's policy: its Safety and its Limits."""

from toolmd._parse.fields.field import Field, SectionTable

SAFETY = SectionTable(
    "Safety",
    "What must be true before a call runs; enforced on every call, at every door.",
    restricts=True,
    fields=(
        Field(
            "Min Confidence",
            "min_confidence",
            "share",
            "The least confidence (0 to 1) that a model must state.",
            restricts=True,
            aliases=("Minimum Confidence", "Confidence", "Confidence Threshold"),
        ),
        Field(
            "On Missing Confidence",
            "on_missing_confidence",
            "choice",
            "`deny` a call that states no confidence where one is asked for, or `confirm`: ask a "
            "person; else as the project says.",
            restricts=True,
            choices=("deny", "confirm"),
        ),
        Field(
            "Requires Confirmation",
            "requires_confirmation",
            "boolean",
            "A person must agree to each call.",
            "no",
            restricts=True,
            aliases=("Confirmation", "Confirm", "Confirmation Required", "Require Confirmation"),
        ),
        Field(
            "Confirm When",
            "confirm_when",
            "expression",
            "A person must agree where this expression over the arguments is true.",
            restricts=True,
        ),
        Field(
            "Sensitivity",
            "sensitivity",
            "choice",
            "`critical` always asks a person, with every detail.",
            restricts=True,
            choices=("low", "medium", "high", "critical"),
        ),
        Field(
            "Explicit Intent",
            "explicit_intent",
            "boolean",
            "The user's own message must hold one of the Intent Keywords.",
            "no",
            restricts=True,
            aliases=("Explicit Intent Required", "Requires Explicit Intent"),
        ),
        Field(
            "Intent Keywords",
            "intent_keywords",
            "list",
            "The words that show the intent; inflections count.",
            restricts=True,
        ),
        Field(
            "Escalate When",
            "escalate_when",
            "expression",
            "The call is held for a human where this expression is true.",
            restricts=True,
        ),
    ),
)

LIMITS = SectionTable(
    "Limits",
    "What a call may cost.",
    restricts=True,
    fields=(
        Field("Timeout", "timeout_s", "duration", "How long a call may run: `10s`, `500ms`."),
        Field(
            "Retries",
            "retries",
            "whole",
            "How often a failed call is tried again, if the tool is Read Only or Idempotent.",
            "0",
        ),
        Field(
            "Backoff",
            "backoff_s",
            "duration",
            "The wait before the first retry; it doubles.",
            "500ms",
            aliases=("Back Off",),
        ),
        Field("Rate", "rate", "rate", "At most so many starts: `3/s`, `100/min`.", restricts=True),
        Field("Max Rows", "max_rows", "count", "The most rows of a result.", restricts=True),
        Field("Max Bytes", "max_bytes", "size", "The most bytes of a result.", restricts=True),
        Field(
            "Max Batch",
            "max_batch",
            "batch",
            "Splits a long array: `texts by 256`.",
            restricts=True,
        ),
        Field(
            "Max Calls", "max_calls", "count", "The most calls in a conversation.", restricts=True
        ),
        Field(
            "Max Concurrent",
            "max_concurrent",
            "count",
            "The most calls that run at one time; the others wait.",
            restricts=True,
        ),
        Field(
            "Allowed Domains",
            "allowed_domains",
            "hosts",
            "The hosts that the tool may reach: exact, or `*.suffix`.",
            restricts=True,
        ),
    ),
)
