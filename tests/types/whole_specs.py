"""A tool and a skill that set every field of a definition."""

from toolmd._types.approval import Approval, Escalation
from toolmd._types.call_spec import Batch, ErrorText, Given, Limits, Rate, Rule, Safety
from toolmd._types.diagnostic import Source
from toolmd._types.quota import Quota
from toolmd._types.schema import Parameter, Schema
from toolmd._types.skill import (
    Argument,
    Expression,
    Loop,
    OnError,
    Output,
    SkillSpec,
    Step,
    Template,
    Use,
    Values,
    Way,
    WorkflowSection,
)
from toolmd._types.tool import Example, ToolSpec

NAME = Schema(
    types=("string", "null"),
    description="Its name.",
    enum=("Ada", "Zoë"),
    has_default=True,
    default="Ada",
    min_length=1,
    max_length=40,
    pattern="[A-Z].*",
    format="name",
    has_example=True,
    example="Zoë",
    sensitive=True,
    verbatim=True,
)
LIST = Schema(
    types=("array",),
    items=Schema(types=("number",), minimum=0.5, maximum=99, unit="mg"),
    min_items=1,
    max_items=9,
    unique=True,
    accepts_handle=True,
    sent_in="query id[]",
    from_caller="doses",
)
PARAMETERS = (
    Parameter(name="name", shape=NAME, required=True),
    Parameter(name="doses", shape=LIST),
    Parameter(
        name="who",
        shape=Schema(types=("object",), properties=(Parameter(name="role", shape=NAME),)),
    ),
    Parameter(
        name="told",
        shape=Schema(
            types=("object",),
            discriminator="by",
            one_of=tuple(
                Parameter(
                    name=by,
                    shape=Schema(
                        types=("object",),
                        description=f"Told by {by}",
                        properties=(Parameter(name="by", shape=Schema(enum=(by,)), required=True),),
                    ),
                )
                for by in ("phone", "mail")
            ),
        ),
    ),
    Parameter(name="counts", shape=Schema(values=Schema(types=("integer",)))),
)
TOOL = ToolSpec(
    name="log_dose",
    title="Log a dose",
    description="Logs a dose.",
    notes="For nurses.",
    when_to_use="After it was taken.",
    version="1.10",
    category="health",
    tags=("dose", "log"),
    parameters=PARAMETERS,
    sections={"History": "Since 2020.", "Owner": "The ward."},
    extra={"team": ["a", 1], "deep": {"b": None}},
    source=Source("log_dose.tool.md", 3),
    requires_auth=True,
    requires_context=("patient",),
    allowed_roles=("nurse", "doctor"),
    implemented_by="ward:log_dose",
    read_only=True,
    idempotent="keyed",
    unknown_parameters="ignore",
    model_invocation=False,
    returns=Schema(
        types=("object",), properties=(Parameter(name="id", shape=LIST),), to_model=("id",)
    ),
    given=(Given("dose", "get_dose", {"id": "name"}),),
    errors=(ErrorText("KeyError", "no_order", "No such order."),),
    rules=(
        Rule(expression="has(name)", message="Name it."),
        Rule(expression="size(doses) > 0", message="Give a dose."),
    ),
    safety=Safety(
        min_confidence=0.7,
        on_missing_confidence="confirm",
        requires_confirmation=True,
        confirm_when="size(doses) > 3",
        sensitivity="high",
        explicit_intent=True,
        intent_keywords=("log", "note"),
        text="Log {name}?",
        crisis_when="size(doses) > 5",
    ),
    approvals=(
        Approval(
            "Many",
            "size(doses) > 4",
            ("doctor",),
            "Log {name}?",
            3600.0,
            (Escalation(600.0, ("head",)),),
        ),
        Approval("All", "always", "'doctor' in approver.roles"),
    ),
    limits=Limits(
        timeout_s=2.5,
        retries=2,
        backoff_s=0.5,
        rate=Rate(calls=3, per_s=60.0),
        max_rows=10,
        max_bytes=2048,
        max_batch=Batch(parameter="doses", size=4),
        quotas=(Quota(0.5, ("user", "`name`"), "rolling", 86400.0, "dose", "size(doses) > 1"),),
        allowed_hours="Mon-Fri 08:00-18:00 Europe/Berlin",
        max_concurrent=2,
        allowed_domains=("a.example", "*.b.example"),
    ),
    examples=(
        Example(title="One", arguments={"name": "Ada"}, has_result=True, result={"id": [1]}),
        Example(title="None", arguments={"name": "", "doses": [1, 2]}, error="invalid_arguments"),
    ),
)


def code(cel: str) -> Template:
    return Template(parts=(Expression(cel=cel, line=9, column=4),), code=True)


def text(*parts: str | Expression) -> Template:
    return Template(parts=parts)


SAID = text("Dear ", Expression(cel="name", line=9, column=9), "!")
NESTED = Values(
    fields=(
        Argument(name="list", value=Values(items=(code("a"), text("b"))), line=9),
        Argument(name="text", value=SAID, line=10),
    )
)
STEPS = (
    Step(
        id="1",
        title="Book",
        text="As asked.",
        line=8,
        when=Expression(cel="has(name)", line=8, column=3),
        wait=7200.0,
        for_each=Loop(name="day", over=Expression(cel="days", line=8, column=3), at_once=2),
        use=Use(name="book", arguments=(Argument(name="day", value=code("day"), line=9),)),
        save_as="booked",
        if_empty=Way(kind="go", target="Nothing free"),
        check=Expression(cel="booked.ok", line=8, column=3),
        on_error=OnError(retries=2, then=Way(kind="stop", text=SAID)),
        undo=Use(name="cancel", arguments=(Argument(name="all", value=NESTED, line=9),)),
        timeout_s=2.5,
    ),
    Step(
        id="2",
        title="Ask",
        ask=SAID,
        if_no=Way(kind="stop"),
        use=Use(name="book"),
        by=("head",),
        expires_s=7200.0,
        escalate=(Escalation(3600.0, ("chief",)),),
    ),
    Step(
        id="3",
        title="Choose",
        choose=Expression(cel="booked[0]", line=8, column=3),
        or_else=Way(kind="choose", choose=Expression(cel="booked[1]", line=8, column=3)),
        if_empty=Way(kind="continue"),
    ),
    Step(
        id="4",
        title="Return",
        returns=(Argument(name="slot", value=code("booked"), line=9),),
        message=SAID,
    ),
    Step(id="5", title="Return nothing", returns=()),
)
SKILL = SkillSpec(
    name="book_slot",
    title="Book a slot",
    description="Books a slot.",
    notes="For the desk.",
    when_to_use="When asked.",
    version="2.0",
    category="desk",
    tags=("slot", "desk"),
    parameters=PARAMETERS,
    sections={"History": "Since 2021."},
    extra={"team": "desk"},
    source=Source("book_slot.skill.md", 1),
    required_tools=("book", "cancel"),
    required_skills=("greet", "thank"),
    context={"patient": "name"},
    schedule="0 7 * * *",
    schedule_inputs={"name": "Ann"},
    durable=False,
    model_invocation=False,
    user_invocable=False,
    allowed_tools=("book", "cancel", "Bash(git:*)"),
    disallowed_tools=("Write",),
    output=Output(success="Booked.", message="Says when.", data="The slot.", error="Why not."),
    workflow="As the desk does.",
    workflow_sections=(
        WorkflowSection(name="", steps=STEPS, line=7),
        WorkflowSection(
            name="Nothing free",
            steps=(Step(id="Nothing free/1", title="Stop", stop=SAID, line=20),),
            line=19,
        ),
    ),
)
