"""The keys of a step, one row each, and the words that people write instead of them."""

from collections.abc import Mapping
from dataclasses import dataclass

from toolmd._parse.blocks.block import Bullets, Paragraph
from toolmd._parse.fields.field import UNITS
from toolmd._parse.words.keys import fold, plain
from toolmd._parse.words.slips import nearest


@dataclass(frozen=True, slots=True)
class StepKey:
    """The row of a key: how a step has it, reads it and writes it."""

    name: str
    attribute: str
    """The attribute of the Step that it sets; With and At Once complete that of another key."""
    kind: str
    """The way its value is read and written: a key of `keys.READERS` and `keys.WRITERS`."""
    says: str
    """The sentence for the editor."""
    needs: tuple[str, ...] = ()
    """The keys of which one must be in the same step."""
    takes: tuple[type, ...] = ()
    """The blocks that may be nested below it."""
    holds: bool = True
    """Whether it holds back the step, or handles its failure."""
    guards: bool = False
    """Whether it is reported outside of a step, where it would guard nothing."""
    instead: str = ""
    """The words that people write for it; none of them is read as the key."""


ACTIONS = ("Use", "Choose", "Ask", "Return", "Stop", "Wait")
_GIVING = ("Use", "Choose", "Ask")
# fmt: off
_ROWS = (
    StepKey("Use", "use", "callee", "Calls this tool or skill.", holds=False,
            instead="Call, Calls, Run, Runs, Tool, Tools, Execute, Invoke, Uses, Action, Function, "
            "Skill, Use Tool, Call Tool, Run Tool"),
    StepKey("With", "", "arguments", "The arguments: nested bullets `- argument: value`.",
            needs=("Use",), takes=(Bullets,), holds=False,
            instead="Arguments, Args, Parameters, Params, Inputs, Input, Given"),
    StepKey("Choose", "choose", "expression", "An expression; its value is the step's result.",
            holds=False, instead="Pick, Select, Compute, Calculate, Evaluate, Let, Decide"),
    StepKey("Ask", "ask", "question",
            "A person must answer; with Use, the confirmation of exactly that call.",
            takes=(Paragraph,), guards=True,
            instead="Confirm, Confirms, Confirmation, Confirm With, Confirm First, Consent, "
            "Require Confirmation, Requires Confirmation, Confirmation Required, "
            "Needs Confirmation, Confirm With User, Confirm With The User, Get Confirmation, "
            "User Confirmation, Human Confirmation, Manual Confirmation, Must Confirm, Approve, "
            "Approves, Approval, Approved By, Approver, Require Approval, Requires Approval, "
            "Approval Required, Needs Approval, Get Approval, User Approval, Human Approval, "
            "Manual Approval, Sign Off, Permission, Ask The User, Ask User, Ask First, "
            "Ask A Person, Ask A Human, Ask Human, Ask For, Ask For Confirmation, "
            "Ask For Approval, Ask For Permission, Asks, Human In The Loop, Human, Review, "
            "Human Review, Question, Prompt"),
    StepKey("Return", "returns", "data",
            "Ends the skill with success; nested bullets are the data.", takes=(Bullets,),
            holds=False, instead="Returns, Finish, Respond, Reply, Answer"),
    StepKey("Stop", "stop", "text", "Ends the skill without success; the text is the message.",
            takes=(Paragraph,), holds=False,
            instead="Abort, Fail, Exit, End, Halt, Cancel, Raise, Quit"),
    StepKey("Save as", "save_as", "name", "The name under which later steps read the result.",
            needs=_GIVING, holds=False,
            instead="Save, Save To, Store, Store As, Assign, Output, Outputs, Result"),
    StepKey("When", "when", "expression", "An expression; the step is skipped if it is false.",
            needs=ACTIONS, guards=True,
            instead="If, Condition, Conditions, Only If, Only When, Unless, Guard, Where, Skip If, "
            "Skip When, Skip Unless, Run If, Precondition, Preconditions, Conditional, Provided, "
            "Provided That, Requires"),
    StepKey("For each", "for_each", "loop",
            "`` day in `next_days(date, 3)` ``: the step runs for each.", needs=("Use", "Choose"),
            takes=(Bullets,), holds=False,
            instead="Loop, Loop Over, For Every, For All, For, Each, Repeat, Iterate"),
    StepKey("Wait", "wait", "moment",
            "A duration (`2h`), or an expression that gives a time: the step waits for it first.",
            guards=True,
            instead="Waits, Wait For, Wait Until, Delay, Sleep, Pause, Hold"),
    StepKey("At Once", "", "count", "The number of For each runs in parallel; 1 by default.",
            needs=("For each",),
            instead="Parallel, In Parallel, Concurrency, Max Parallel, Max Concurrent"),
    StepKey("If empty", "if_empty", "way", "The action on an empty result.", needs=_GIVING,
            instead="If None, If Nothing, On Empty, When Empty, If Not Found, If Missing"),
    StepKey("If no", "if_no", "way", "The action when the person says no.", needs=("Ask", "Use"),
            guards=True,
            instead="If Rejected, If Declined, If Denied, If Not Approved, On No, "
            "On Reject, On Rejection, On Decline, When No, If Not Confirmed, If Refused"),
    StepKey("Or else", "or_else", "choice", "The action when Choose returns no value.",
            needs=("Choose",), instead="Else, Otherwise, Fallback, Default"),
    StepKey("Check", "check", "expression", "An expression that must be true after the step.",
            needs=_GIVING, guards=True,
            instead="Assert, Verify, Validate, Validation, Ensure, Expect, Require, Must, Checks, "
            "Postcondition, Must Hold"),
    StepKey("On error", "on_error", "failure",
            'The action when the step fails: `stop "text"`, `continue`, `go to NAME`, '
            "`retry N times, then …`.", needs=ACTIONS,
            instead="Catch, On Failure, On Fail, If Error, If It Fails, If Fails, If Failed, "
            "Error Handling, On Exception, Retry, Retries, Try"),
    StepKey("Undo", "undo", "call",
            "The compensating tool and its arguments, called when a later step stops the skill.",
            needs=("Use",), takes=(Bullets,),
            instead="Rollback, Roll Back, Compensate, Compensation, Compensate With, Revert, "
            "On Rollback, Undo With, Reverse"),
    StepKey("Timeout", "timeout_s", "duration", "The longest time for Use or Ask.",
            needs=("Use", "Ask"),
            instead="Time Limit, Deadline, Max Time, Max Wait, Expires, Expires In"),
)
# fmt: on
STEP_KEYS: Mapping[str, StepKey] = {row.name: row for row in _ROWS}
"""The closed set of a step's keys, by their name."""

TIMEOUT_UNITS = {f"timeout{word}": unit for word, unit in UNITS["duration"].items()}
"""The folded spellings of Timeout with a unit, such as `Timeout Seconds`, to the unit."""
KEY_BY_FOLD = {fold(key): key for key in STEP_KEYS} | dict.fromkeys(TIMEOUT_UNITS, "Timeout")
"""Each folded key to the key."""

_MEANT = {fold(word): row.name for row in _ROWS for word in row.instead.split(", ")}
HOLDING = frozenset(row.name for row in _ROWS if row.holds)
"""The keys that hold back a step, or handle its failure."""


def key_meant(name: str) -> str | None:
    """Find the step key that a name is, misspells or commonly replaces."""
    folded = fold(name)
    return KEY_BY_FOLD.get(folded) or _MEANT.get(folded) or nearest(plain(name), STEP_KEYS)
