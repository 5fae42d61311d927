"""The content of a `.skill.md` file."""

from functools import cached_property
from typing import Any, ClassVar, Literal

from pydantic import Field

from toolmd._types.canonical import present
from toolmd._types.definition import FileSpec, Noun
from toolmd._types.schema import object_schema
from toolmd._types.source import Position


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


class Step(Noun):
    """One item of the workflow's list (format.md, "Steps")."""

    id: str
    """`1`, `2`, …; in a named section `No slots/1`."""
    title: str
    text: str = ""
    """The prose after the title."""
    line: int = 0
    places: dict[str, Position] = Field(default_factory=dict)
    """The position of each key's value."""
    when: Expression | None = None
    wait: float | Expression | None = None
    """The seconds to wait, or the expression that gives a time or a duration."""
    for_each: Loop | None = None
    ask: Template | None = None
    if_no: Way | None = None
    use: Use | None = None
    choose: Expression | None = None
    or_else: Way | None = None
    returns: tuple[Argument, ...] | None = None
    message: Template | None = None
    """The message of the result when the skill returns."""
    stop: Template | None = None
    save_as: str | None = None
    if_empty: Way | None = None
    check: Expression | None = None
    on_error: OnError | None = None
    undo: Use | None = None
    timeout_s: float | None = None

    @property
    def acts(self) -> bool:
        """Whether the step does anything; a step without an action is documentation."""
        return (
            self.wait is not None
            or self.use is not None
            or self.choose is not None
            or self.ask is not None
            or self.returns is not None
            or self.stop is not None
        )


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

    required_tools: tuple[str, ...] = ()
    required_skills: tuple[str, ...] = ()
    context: dict[str, str] = Field(default_factory=dict)
    """The input that supplies each fact about the caller: `{"patient": "patientId"}`."""
    schedule: str | None = None
    """When it runs by itself: a cron expression, with a zone if not in UTC, or `every 900s`."""
    schedule_inputs: dict[str, str] = Field(default_factory=dict)
    """The text of each input of these runs."""
    durable: bool = True
    model_invocation: bool = True
    user_invocable: bool = True
    allowed_tools: tuple[str, ...] = ()
    """Patterns of the only tools that it may use, such as `Bash(git:*)`; empty: no such limit."""
    disallowed_tools: tuple[str, ...] = ()
    """Patterns of the tools that it must not use."""
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


def step_json(step: Step, section: str = "") -> dict[str, Any]:
    """Return a step as canonical JSON: keys as in the file, values as their source text."""
    said: dict[str, Any] = {"id": step.id, "section": section}
    for name in Step.model_fields:
        value = getattr(step, name)
        if value is None or name in ("line", "places"):
            continue
        said |= _use(value) if name == "use" else {_json_key(name, value): _json(value)}
    return present(said)


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
