"""The keys of a step, and the words that people write instead of them."""

from toolmd._parse.words.keys import fold, nearest, plain
from toolmd._parse.words.units import UNITS

STEP_KEYS: dict[str, str] = {
    "Use": "Calls this tool or skill.",
    "With": "The arguments: nested bullets `- argument: value`.",
    "Choose": "An expression; its value is the step's result.",
    "Ask": "A person must answer; with Use, the confirmation of exactly that call.",
    "Return": "Ends the skill with success; nested bullets are the data.",
    "Stop": "Ends the skill without success; the text is the message.",
    "Save as": "The name under which later steps read the result.",
    "When": "An expression; the step is skipped if it is false.",
    "For each": "`` day in `next_days(date, 3)` ``: the step runs for each.",
    "At Once": "The number of For each runs in parallel; 1 by default.",
    "If empty": "The action on an empty result.",
    "If no": "The action when the person says no.",
    "Or else": "The action when Choose returns no value.",
    "Check": "An expression that must be true after the step.",
    "On error": 'The action when the step fails: `stop "text"`, `continue`, `go to NAME`, '
    "`retry N times, then …`.",
    "Undo": "The compensating tool and its arguments, called when a later step stops the skill.",
    "Timeout": "The longest time for Use or Ask.",
}
"""The closed set of a step's keys, each with its sentence."""

TIMEOUT_UNITS = {f"timeout{word}": unit for word, unit in UNITS["duration"].items()}
"""The folded spellings of Timeout with a unit, such as `Timeout Seconds`, to the unit."""
KEY_BY_FOLD = {fold(key): key for key in STEP_KEYS} | dict.fromkeys(TIMEOUT_UNITS, "Timeout")
"""Each folded key to the key."""

WAIT = "Wait"
"""A key that is not supported yet: it is reported, never skipped."""

_WRITTEN_FOR: dict[str, tuple[str, ...]] = {
    "Ask": (
        *("Confirm", "Confirms", "Confirmation", "Confirm With", "Confirm First", "Consent"),
        *("Require Confirmation", "Requires Confirmation", "Confirmation Required"),
        *("Needs Confirmation", "Confirm With User", "Confirm With The User", "Get Confirmation"),
        *("User Confirmation", "Human Confirmation", "Manual Confirmation", "Must Confirm"),
        *("Approve", "Approves", "Approval", "Approved By", "Approver", "Require Approval"),
        *("Requires Approval", "Approval Required", "Needs Approval", "Get Approval"),
        *("User Approval", "Human Approval", "Manual Approval", "Sign Off", "Permission"),
        *("Ask The User", "Ask User", "Ask First", "Ask A Person", "Ask A Human", "Ask Human"),
        *("Ask For", "Ask For Confirmation", "Ask For Approval", "Ask For Permission", "Asks"),
        *("Human In The Loop", "Human", "Review", "Human Review", "Question", "Prompt"),
    ),
    WAIT: ("Wait", "Waits", "Wait For", "Wait Until", "Delay", "Sleep", "Pause", "Hold"),
    "When": (
        *("If", "Condition", "Conditions", "Only If", "Only When", "Unless", "Guard", "Where"),
        *("Skip If", "Skip When", "Skip Unless", "Run If", "Precondition", "Preconditions"),
        *("Conditional", "Provided", "Provided That", "Requires"),
    ),
    "Use": (
        *("Call", "Calls", "Run", "Runs", "Tool", "Tools", "Execute", "Invoke", "Uses", "Action"),
        *("Function", "Skill", "Use Tool", "Call Tool", "Run Tool"),
    ),
    "With": ("Arguments", "Args", "Parameters", "Params", "Inputs", "Input", "Given"),
    "Choose": ("Pick", "Select", "Compute", "Calculate", "Evaluate", "Let", "Decide"),
    "Return": ("Returns", "Finish", "Respond", "Reply", "Answer"),
    "Stop": ("Abort", "Fail", "Exit", "End", "Halt", "Cancel", "Raise", "Quit"),
    "Save as": ("Save", "Save To", "Store", "Store As", "Assign", "Output", "Outputs", "Result"),
    "For each": ("Loop", "Loop Over", "For Every", "For All", "For", "Each", "Repeat", "Iterate"),
    "At Once": ("Parallel", "In Parallel", "Concurrency", "Max Parallel", "Max Concurrent"),
    "If empty": ("If None", "If Nothing", "On Empty", "When Empty", "If Not Found", "If Missing"),
    "If no": (
        *("If Rejected", "If Declined", "If Denied", "If Refused", "If Not Approved", "On No"),
        *("On Reject", "On Rejection", "On Decline", "When No", "If Not Confirmed"),
    ),
    "Or else": ("Else", "Otherwise", "Fallback", "Default"),
    "Check": (
        *("Assert", "Verify", "Validate", "Validation", "Ensure", "Expect", "Require", "Must"),
        *("Checks", "Postcondition", "Must Hold"),
    ),
    "On error": (
        *("Catch", "On Failure", "On Fail", "If Error", "If It Fails", "If Fails", "If Failed"),
        *("Error Handling", "On Exception", "Retry", "Retries", "Try"),
    ),
    "Undo": (
        *("Rollback", "Roll Back", "Compensate", "Compensation", "Compensate With", "Revert"),
        *("On Rollback", "Undo With", "Reverse"),
    ),
    "Timeout": ("Time Limit", "Deadline", "Max Time", "Max Wait", "Expires", "Expires In"),
}
"""Each key, and the words that people write for it; none of them is read as the key."""

_MEANT = {fold(word): key for key, words in _WRITTEN_FOR.items() for word in words}
_ACTING = frozenset(("Use", "With", "Choose", "Return", "Stop", "Save as", "For each"))
HOLDING = frozenset(key for key in (*STEP_KEYS, WAIT) if key not in _ACTING)
"""The keys that hold back a step, or handle its failure."""


def key_meant(name: str) -> str | None:
    """Find the step key that a name is, misspells or commonly replaces."""
    folded = fold(name)
    return KEY_BY_FOLD.get(folded) or _MEANT.get(folded) or nearest(plain(name), STEP_KEYS)
