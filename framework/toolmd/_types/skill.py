"""The content of a `.skill.md` file."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from toolmd._types.approval import ALWAYS, DAY_S, Approval, Escalation
from toolmd._types.canonical import present
from toolmd._types.diagnostic import Position
from toolmd._types.field import Row
from toolmd._types.schema import object_schema
from toolmd._types.tool import FileSpec, Noun, ToolSpec


class Expression(Noun):
    """A CEL expression in a code span or in braces."""

    cel: str
    line: int = 0
    column: int = 0
    """The column of its first character in the file; not part of the meaning."""


class Template(Noun):
    """A value as the author wrote it: text with expressions in it, in order."""

    parts: tuple[str | Expression, ...]

    @property
    def expression(self) -> Expression | None:
        """The expression, if the value is exactly one in a code span; else None."""
        match self.parts:
            case (Expression() as only,):
                return only if self.code else None
            case _:
                return None

    code: bool = False
    """Whether the value was in a code span: its result then keeps its type; else it is text."""


class Argument(Noun):
    """`- name: value` under With, Return or Undo; a value may be a list or a map of values."""

    name: str
    value: "Value"
    line: int = 0
    column: int = 1
    value_column: int = 1

    @property
    def place(self) -> Position | None:
        """Return the position of the name; None if it comes from no file."""
        end = self.column + len(self.name)
        return Position(self.line, self.column, end) if self.line else None

    @property
    def value_place(self) -> Position | None:
        """Return the position where the value begins; None if it comes from no file."""
        column = self.value_column
        return Position(self.line, column, column + 1) if self.line else None


class Values(Noun):
    """Nested bullets as a value: named ones make an object, bare ones a list."""

    fields: tuple[Argument, ...] = ()
    items: "tuple[Value, ...]" = ()


Value = Template | Values


class Way(Noun):
    """The next action of a step: `go to NAME`, `stop "text"`, `continue`, or an expression."""

    kind: Literal["go", "stop", "continue", "choose"]
    target: str = ""
    """The section's title, for `go`."""
    text: Template | None = None
    """The message, for `stop`."""
    choose: Expression | None = None


class Use(Noun):
    """The tool or skill that a step uses, and its arguments."""

    name: str
    arguments: tuple[Argument, ...] = ()


class Loop(Noun):
    """`day in next_days(date, 3)`, `at_once` of them in parallel."""

    name: str
    over: Expression
    at_once: int = 1


class OnError(Noun):
    """The handling of a failed step: retry `retries` times, then continue as `then` states."""

    retries: int = 0
    then: Way


@dataclass(frozen=True, slots=True)
class StepKey:
    """The row of a step's key: everything that the rest of Toolmd knows about the key.

    The field of `Step` that a key sets carries the row. The parser, the formatter, the check, the
    run, the drawings and the editor read the rows, so a new key is a row and, where it acts, a
    method of `Run`.
    """

    name: str
    kind: str
    """The kind of its value: how the value is read, written, checked and drawn."""
    says: str
    """The sentence for the editor and the reference."""
    word: str
    """The word before its value in a drawing; empty where the drawing does not show it."""
    run: str = ""
    """The method of `Run` that performs it; empty for a key that completes those it needs."""
    acts: bool = False
    """Whether it makes an item of the list a step; a step has one such key, Wait apart."""
    each: bool = False
    """Whether a step with For each performs it for each item."""
    reads: Literal["outside", "item", "after"] = "item"
    """The names that its value can read: without the loop's item, with it, or the result too."""
    needs: tuple[str, ...] = ()
    """The keys of which one must be in the same step."""
    holds: bool = True
    """Whether it holds back the step, or handles its failure."""
    part: str = ""
    """The part of the field's value that it sets, for a key that completes another one."""
    instead: str = ""
    """The words that people write for it; none of them is read as the key."""
    attribute: str = ""
    """The field of `Step` that carries it."""

    def value(self, step: "Step") -> Any:
        """Return the value that a step has for the key; None where the step lacks it."""
        value = getattr(step, self.attribute)
        if not self.part or value is None:
            return value
        default = type(value).model_fields[self.part].default
        return None if (part := getattr(value, self.part)) == default else part


_ACTIONS = ("Use", "Choose", "Ask", "Return", "Stop", "Wait")
_GIVING = ("Use", "Choose", "Ask")


# fmt: off
class Step(Noun):
    """One item of the workflow's list (format.md, "Steps"): its keys, in the order of a step."""

    id: str
    """`1`, `2`, …; in a named section `No slots/1`."""
    title: str
    text: str = ""
    """The prose after the title."""
    line: int = 0
    places: dict[str, Position] = Field(default_factory=dict)
    """The position of each key's value."""
    when: Annotated[Expression | None, StepKey(
        "When", "condition", "A condition. If it is false, the step is skipped.", "when",
        reads="outside", needs=_ACTIONS,
        instead="If, Condition, Only If, Unless")] = None
    for_each: Annotated[
        Loop | None,
        StepKey(
            "For each", "loop",
            "`` day in `next_days(date, 3)` `` runs the step for each item. The result is a list.",
            "for each", run="each", reads="outside", needs=("Use", "Choose"), holds=False,
            instead="Loop, Repeat"),
        StepKey(
            "At Once", "count", "The number of items of For each that run at the same time. "
            "Default: 1.",
            "at once", needs=("For each",), part="at_once",
            instead="Parallel, Concurrency"),
    ] = None
    wait: Annotated[float | Expression | None, StepKey(
        "Wait", "moment",
        "The step waits before it begins. Write a duration (`2h`), or an expression for a time.",
        "wait", run="wait", acts=True, each=True,
        instead="Delay, Sleep, Pause, Wait Until")] = None
    """The seconds to wait, or the expression that gives a time or a duration."""
    ask: Annotated[Template | None, StepKey(
        "Ask", "question",
        "The question that a person must answer. With Use, the answer confirms exactly this call.",
        "ask", run="ask", acts=True, each=True,
        instead="Confirm, Approve, Approval, Consent, Requires Confirmation")] = None
    by: Annotated[tuple[str, ...] | Expression | None, StepKey(
        "By", "approvers",
        "The people who answer instead of the caller. Write roles, or an expression over "
        "`approver`.", "by",
        needs=("Ask",), instead="Approver, Approved By")] = None
    expires_s: Annotated[float | None, StepKey(
        "Expires", "term", "How long Ask waits, at most 30 days. With By, the default is 1 day.",
        "expires", needs=("Ask",), instead="Expires After, Expires In")] = None
    escalate: Annotated[tuple[Escalation, ...] | None, StepKey(
        "Escalate", "escalations",
        "More roles that may answer after some time: `after 4 hours to head_of_support`.",
        "escalates",
        needs=("By",), instead="Escalation")] = None
    if_no: Annotated[Way | None, StepKey(
        "If no", "way", "The action if the person says no.", "no",
        needs=("Ask", "Use"),
        instead="If Rejected, If Declined")] = None
    use: Annotated[
        Use | None,
        StepKey(
            "Use", "callee",
            "The tool or skill to call. Required Tools or Required Skills must list it.", "use",
            run="use", acts=True, each=True, holds=False,
            instead="Call, Run, Tool, Skill"),
        StepKey(
            "With", "arguments", "The arguments of the call. Write nested bullets `- argument: "
            "value`.", "",
            needs=("Use",), holds=False, part="arguments",
            instead="Arguments, Parameters, Inputs"),
    ] = None
    choose: Annotated[Expression | None, StepKey(
        "Choose", "expression", "An expression. Its value is the result of the step.", "choose",
        run="choose", acts=True, each=True, holds=False,
        instead="Pick, Select")] = None
    or_else: Annotated[Way | None, StepKey(
        "Or else", "choice", "The action, or another expression, if Choose gives no value.",
        "none", needs=("Choose",), instead="Else, Otherwise")] = None
    returns: Annotated[tuple[Argument, ...] | None, StepKey(
        "Return", "data", "Ends the skill with success. The nested bullets are the data.", "give",
        run="end", acts=True, holds=False,
        instead="Finish, Answer")] = None
    message: Template | None = None
    """The message of the result when the skill returns."""
    stop: Annotated[Template | None, StepKey(
        "Stop", "text", "Ends the skill without success. The text is the message.", "say",
        run="end", acts=True, holds=False,
        instead="Abort, Fail, End")] = None
    save_as: Annotated[str | None, StepKey(
        "Save as", "name", "The name under which later steps read the result.", "save as",
        run="save", needs=_GIVING, holds=False,
        instead="Save, Store, Output, Result")] = None
    if_empty: Annotated[Way | None, StepKey(
        "If empty", "way", "The action if the result is empty.", "empty",
        run="branch", reads="after", needs=_GIVING,
        instead="If None, If Not Found")] = None
    check: Annotated[Expression | None, StepKey(
        "Check", "condition", "An expression that must be true after the step.", "check",
        run="check", reads="after", needs=_GIVING,
        instead="Assert, Verify, Ensure")] = None
    on_error: Annotated[OnError | None, StepKey(
        "On error", "failure",
        'The action if the step fails: `stop "text"`, `continue`, `go to NAME`, '
        "`retry N times, then …`.", "error", needs=_ACTIONS,
        instead="Catch, Retry")] = None
    undo: Annotated[Use | None, StepKey(
        "Undo", "call",
        "The tool that undoes the step if the skill stops later. Write its arguments below it.",
        "undo", needs=("Use",),
        instead="Rollback, Compensate, Revert")] = None
    timeout_s: Annotated[float | None, StepKey(
        "Timeout", "duration", "The longest time that Use or Ask may take.", "within",
        needs=("Use", "Ask"),
        instead="Deadline")] = None
    # fmt: on

    @property
    def approval(self) -> Approval | None:
        """The approval of another person that its Ask is; None where its caller answers."""
        if self.by is None:
            return None
        by = self.by.cel if isinstance(self.by, Expression) else self.by
        when = ALWAYS if self.when is None else self.when.cel
        return Approval(self.title, when, by, "", self.expires_s or DAY_S, self.escalate or ())

    @cached_property
    def keys(self) -> tuple[StepKey, ...]:
        """The rows of the keys that the step has, in the order of a step."""
        return tuple(key for key in STEP_KEYS.values() if key.value(self) is not None)

    @cached_property
    def acts(self) -> bool:
        """Whether the step does anything; a step without an action is documentation."""
        return any(key.acts for key in self.keys)

    @property
    def ends(self) -> bool:
        """Whether the step ends the skill."""
        return "end" in self.methods

    @cached_property
    def methods(self) -> tuple[str, ...]:
        """The methods of `Run` that carry out the step, in order."""
        loops = self.for_each is not None
        return tuple(key.run for key in self.keys if key.run and not (loops and key.each))

    @cached_property
    def item_methods(self) -> tuple[str, ...]:
        """The methods of `Run` that carry out the step for one item of its loop, in order."""
        return tuple(key.run for key in self.keys if key.each)


STEP_KEYS: Mapping[str, StepKey] = {
    row.name: replace(row, attribute=name)
    for name, field in Step.model_fields.items()
    for row in field.metadata
    if isinstance(row, StepKey)
}
"""The closed set of a step's keys by their name, in the order of a step."""


class WorkflowSection(Noun):
    """The steps under `### NAME`, reached by `go to NAME`; the first section has no name."""

    name: str
    steps: tuple[Step, ...]
    line: int = 0


class Output(Noun):
    """The description of each part of the SkillResult."""

    success: str = ""
    message: str = ""
    data: str = ""
    error: str = ""


class SkillSpec(FileSpec):
    """The content of a `.skill.md` file (format.md, "Skill file"); its inputs are parameters."""

    kind: ClassVar[str] = "skill"
    """Always `skill`."""

    # fmt: off
    required_tools: Annotated[tuple[str, ...], Row(
        "names", "The only tools that the steps may call.", restricts=True,
        aliases=("Requires Tools", "Require Tools", "Required Tool", "Tools Required"))] = ()
    required_skills: Annotated[tuple[str, ...], Row(
        "names", "The only skills that the steps may call.", restricts=True,
        aliases=("Requires Skills",))] = ()
    context: Annotated[dict[str, str], Row(
        "suppliers",
        "The input that supplies a fact about the caller, such as `patient from patientId`.",
        restricts=True, compared="unlike")] = Field(default_factory=dict)
    """The input that supplies each fact about the caller: `{"patient": "patientId"}`."""
    schedule: Annotated[str | None, Row(
        "schedule",
        "The times at which the skill runs by itself. Write a cron expression, such as `0 7 * * "
        "1-5 in Europe/Paris`, or `every 15m`. Without a zone, the time is UTC.", aliases=("Cron",
        "Runs Every"))] = None
    """When it runs by itself: a cron expression, with a zone if not in UTC, or `every 900s`."""
    schedule_inputs: Annotated[dict[str, str], Row(
        "inputs", "The inputs of scheduled runs. Write nested bullets `- input: value`.",
        aliases=("Scheduled Inputs",))] = Field(default_factory=dict)
    """The text of each input of these runs."""
    durable: Annotated[bool, Row("boolean", "Whether a run survives the end of its process.", "yes",
                                  compared="demand")] = True
    model_invocation: Annotated[bool, Row(
        "boolean", "Whether a model may start the skill. With `no`, only people and programs "
        "start it.",
        "yes", restricts=True, compared="claim")] = True
    user_invocable: Annotated[bool, Row(
        "boolean", "Whether the console offers a form to start the skill.",
        "yes", restricts=True, compared="claim")] = True
    allowed_tools: Annotated[tuple[str, ...], Row(
        "patterns",
        "The only tools that the skill may use, such as `Read, Bash(git:*)`. They may be tools of "
        "Toolmd or of another program.",
        restricts=True, compared="choices", aliases=("Tools Allowed",))] = ()
    """Patterns of the only tools that it may use, such as `Bash(git:*)`; empty: no such limit."""
    disallowed_tools: Annotated[tuple[str, ...], Row(
        "patterns", "The tools that the skill must not use. They may be tools of Toolmd or of "
        "another program.",
        restricts=True, compared="needs", aliases=("Tools Disallowed", "Forbidden Tools"))] = ()
    """Patterns of the tools that it must not use."""
    # fmt: on
    output: Output = Output.model_construct()
    """The description of each part of its result."""
    workflow: str = ""
    """The prose of the Workflow section."""
    workflow_sections: tuple[WorkflowSection, ...] = ()
    """The steps: those without a section first, then each named section."""
    places: dict[str, Position] = Field(default_factory=dict)
    """The positions in the Metadata: by field, and by field and name for lists."""

    @property
    def executable(self) -> bool:
        """Whether the steps alone can run."""
        return any(step.acts for section in self.workflow_sections for step in section.steps)

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The steps as canonical JSON, those of named sections last."""
        return [step_json(s, w.name) for w in self.workflow_sections for s in w.steps]

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the inputs."""
        return object_schema(self.parameters)

    def _own(self) -> dict[str, Any]:
        return {
            "required_tools": list(self.required_tools),
            "required_skills": list(self.required_skills),
            "context": self.context,
            "schedule": self.schedule,
            "schedule_inputs": self.schedule_inputs,
            "durable": None if self.durable else False,
            "model_invocation": None if self.model_invocation else False,
            "user_invocable": None if self.user_invocable else False,
            "allowed_tools": list(self.allowed_tools),
            "disallowed_tools": list(self.disallowed_tools),
            "input_schema": self.input_schema,
            "output": present(self.output.model_dump()),
            "workflow": self.workflow,
            "steps": self.steps,
        }


def folded(name: str) -> str:
    """Return a section's name in the form for comparison: case-folded, with single spaces."""
    return " ".join(name.casefold().split()).rstrip(".")


def step_json(step: Step, section: str = "") -> dict[str, Any]:
    """Return a step as canonical JSON: keys as in the file, values as their source text."""
    values: dict[str, Any] = {"id": step.id, "section": section}
    for name in Step.model_fields:
        value = getattr(step, name)
        if value is None or name in ("line", "places", "by", "escalate"):
            continue
        values |= _use(value) if name == "use" else {_json_key(name, value): _json(value)}
    if (approval := step.approval) is not None:
        by = approval.to_dict()
        values |= {name: by[name] for name in ("by", "escalate") if name in by}
    return present(values)


def _json_key(name: str, value: Any) -> str:
    if name == "wait":
        return "wait_until" if isinstance(value, Expression) else "wait_s"
    return "return" if name == "returns" else name


def _use(use: Use) -> dict[str, Any]:
    return present({"use": use.name, "with": _arguments(use.arguments)})


def _json(value: Any) -> Any:
    """Return the value of a step's key as JSON, by its type."""
    match value:
        case Expression():
            return value.cel
        case Template():
            return value_text(value)
        case Way():
            return way_json(value)
        case Loop():
            return {"name": value.name, "in": value.over.cel, "at_once": value.at_once}
        case OnError():
            return present({"retries": value.retries or None, "then": way_json(value.then)})
        case Use():
            return _use(value)
        case tuple():
            return _arguments(value) or True
        case _:
            return value


def _arguments(arguments: tuple[Argument, ...]) -> dict[str, Any]:
    return {a.name: value_text(a.value) for a in arguments}


def value_text(value: Value) -> Any:
    """Return a value as its source: text, `` `code` ``, or text with `{expression}` in it."""
    if isinstance(value, Values):
        if value.fields:
            return {a.name: value_text(a.value) for a in value.fields}
        return [value_text(item) for item in value.items]
    if (only := value.expression) is not None:
        return f"`{only.cel}`"
    return "".join(p if isinstance(p, str) else "{" + p.cel + "}" for p in value.parts)


def way_json(way: Way) -> str:
    """Return the next action as the author would write it."""
    match way.kind:
        case "go":
            return f"go to {way.target}"
        case "stop":
            return f'stop "{value_text(way.text)}"' if way.text else "stop"
        case "choose":
            assert way.choose is not None
            return f"`{way.choose.cel}`"
        case _:
            return "continue"


class Plan(Noun):
    """The specs of a run: an edited file never changes a run that has begun."""

    skill: SkillSpec
    skills: dict[str, SkillSpec] = Field(default_factory=dict)
    """The skills that it may use, directly or through another skill."""
    tools: dict[str, ToolSpec] = Field(default_factory=dict)
    """The tools that any of these skills may use."""
    python: tuple[str, ...] = ()
    """The skills with a Python implementation, which runs in place of their steps."""
    code: str = ""
    """The hash of the Python with which the run began."""

    @property
    def holds_sensitive(self) -> bool:
        """Whether a run of it may receive Sensitive values."""
        specs = (self.skill, *self.skills.values(), *self.tools.values())
        shapes = [parameter.shape for spec in specs for parameter in spec.parameters]
        shapes += [tool.returns for tool in self.tools.values()]
        return any(shape.holds_sensitive for shape in shapes)
