"""The field table: every section of a tool, a skill and a prompt, in the order of a file."""

from toolmd._parse.fields.field import Field, SectionTable
from toolmd._parse.fields.invocation import INVOCATION
from toolmd._parse.fields.parameter import PARAMETER, RETURN_FIELDS
from toolmd._parse.fields.policy import LIMITS, SAFETY
from toolmd._parse.words.keys import fold

_NAME = Field("Name", "name", "identifier", "The name used in calls.", "the file's name")
_VERSION = Field("Version", "version", "line", "Kept as text: `1.10` stays `1.10`.", "1.0.0")
_CATEGORY = Field("Category", "category", "line", "A word for sorting.", "general")
_TAGS = Field("Tags", "tags", "list", "Words for search.", aliases=("Tag", "Labels", "Keywords"))

TOOL_METADATA = SectionTable(
    "Metadata",
    "The tool's name and its requirements on the caller.",
    aliases=("Meta", "Info"),
    needed=True,
    fields=(
        _NAME,
        _VERSION,
        _CATEGORY,
        Field(
            "Requires Auth",
            "requires_auth",
            "boolean",
            "A call needs a user, whom the host names.",
            "no",
            aliases=(
                *("Auth", "Auth Required", "Require Auth", "Authentication"),
                *("Authentication Required", "Requires Authentication"),
            ),
            restricts=True,
        ),
        Field(
            "Requires Context",
            "requires_context",
            "context",
            "Facts about the caller that the host must supply: `patient, tenant`.",
            aliases=(
                *("Require Context", "Context Required", "Required Context", "Needs Context"),
                "Context",
            ),
            restricts=True,
        ),
        Field(
            "Requires Patient Context",
            "requires_patient_context",
            "boolean",
            "`yes` is read as `Requires Context: patient`.",
            "no",
            aliases=(
                *("Patient Context", "Requires Patient", "Patient Context Required"),
                *("Require Patient Context", "Needs Patient Context"),
            ),
            restricts=True,
        ),
        Field(
            "Implemented By",
            "implemented_by",
            "function",
            "What runs, if it is not the Python of the same stem: `module:function`, of a module "
            "in the same folder or of an installed one; or `http METHOD PATH`, an operation of a "
            "web service (`http GET shop:/pets/{id}` where the settings have several services); "
            "or `mcp SERVER TOOL`, a tool of an MCP server.",
            "the function of the tool's name",
            aliases=("Implemented In", "Implementation By"),
        ),
        _TAGS,
        Field(
            "Read Only",
            "read_only",
            "boolean",
            "The tool changes nothing, so a failed call may be retried.",
            "no",
        ),
        Field(
            "Idempotent",
            "idempotent",
            "choice",
            "Whether a second equal call changes nothing more; `keyed`: with the same key.",
            "no",
            choices=("yes", "no", "keyed"),
        ),
        Field(
            "Unknown Parameters",
            "unknown_parameters",
            "choice",
            "The action for an argument that no parameter names: an error, or nothing.",
            "reject",
            restricts=True,
            aliases=("Unknown Params", "Unknown Arguments"),
            choices=("reject", "ignore"),
        ),
    ),
)

_WHEN_TO_USE = SectionTable(
    "When to use",
    "Prose for the model, after the description in every export.",
    aliases=("When to use it", "When to use this tool", "When to use this skill", "Usage"),
)

TOOL = (
    TOOL_METADATA,
    _WHEN_TO_USE,
    SectionTable(
        "Parameters",
        "One `### name` for each value that a call supplies.",
        aliases=(
            "Params",
            "Arguments",
            "Args",
            "Inputs",
            "Input",
            "Input Schema",
            "Input Parameters",
            "Parameter",
        ),
        needed=True,
        fields=PARAMETER.fields,
        children="parameters",
    ),
    SectionTable(
        "Returns",
        "The result of a call.",
        aliases=(
            "Return",
            "Output",
            "Outputs",
            "Response",
            "Return Value",
            "Return Values",
            "Output Schema",
        ),
        needed=True,
        fields=RETURN_FIELDS,
        children="properties",
    ),
    SectionTable(
        "Rules",
        "Conditions over the arguments: `` - `a < b`: The message if it is false. ``",
        aliases=("Rule", "Validation Rules"),
        restricts=True,
    ),
    SAFETY,
    LIMITS,
    SectionTable(
        "Examples",
        "One `### title` for each example: JSON of the arguments, then of the result.",
        aliases=("Example",),
        children="examples",
    ),
)

SKILL_METADATA = SectionTable(
    "Metadata",
    "The skill's name and the tools and skills that it may use.",
    aliases=("Meta", "Info"),
    needed=True,
    fields=(
        _NAME,
        _VERSION,
        _CATEGORY,
        Field(
            "Required Tools",
            "required_tools",
            "names",
            "The only tools that its steps may call.",
            restricts=True,
            aliases=("Requires Tools", "Require Tools", "Required Tool", "Tools Required"),
            synonyms=("Tools",),
        ),
        Field(
            "Required Skills",
            "required_skills",
            "names",
            "The only skills that its steps may call.",
            restricts=True,
            aliases=("Requires Skills",),
            synonyms=("Skills",),
        ),
        Field(
            "Context",
            "context",
            "suppliers",
            "The input that supplies each fact about the caller: `patient from patientId`.",
            restricts=True,
        ),
        Field(
            "Patient From",
            "patient_from",
            "word",
            "`patientId` is read as `Context: patient from patientId`.",
            restricts=True,
        ),
        Field(
            "Schedule",
            "schedule",
            "schedule",
            "When it runs by itself: a cron expression, `0 7 * * 1-5 in Europe/Paris`, or "
            "`every 15m`; UTC without a zone.",
            aliases=("Cron", "Runs Every"),
        ),
        Field(
            "Schedule Inputs",
            "schedule_inputs",
            "inputs",
            "The inputs of these runs, as nested bullets `- input: value`.",
            aliases=("Scheduled Inputs",),
        ),
        Field("Durable", "durable", "boolean", "Whether a run survives its process.", "yes"),
        *INVOCATION,
        _TAGS,
    ),
)

SKILL = (
    SKILL_METADATA,
    _WHEN_TO_USE,
    SectionTable(
        "Workflow",
        "Prose, and the numbered steps.",
        aliases=("Steps", "Workflow Steps"),
        needed=True,
        children="steps",
    ),
    SectionTable(
        "Input Schema",
        "One `### name` for each input.",
        aliases=("Inputs", "Input", "Parameters", "Params", "Arguments", "Args"),
        needed=True,
        fields=PARAMETER.fields,
        children="parameters",
    ),
    SectionTable(
        "Output Schema",
        "The SkillResult, with a description of each part.",
        aliases=("Output", "Outputs", "Returns", "Return", "Response"),
        needed=True,
        fields=(
            Field("Type", "type", "text", "`object`, the SkillResult."),
            Field("Success", "success", "text", "The meaning of success."),
            Field("Message", "message", "text", "The content of the message."),
            Field("Data", "data", "text", "The content of the data."),
            Field("Error", "error", "text", "The content of an error."),
        ),
    ),
)

PROMPT = (
    SectionTable("Metadata", "The prompt's name.", aliases=("Meta", "Info"), fields=(_NAME,)),
    SectionTable(
        "Arguments",
        "One `### name` for each value that the user supplies.",
        aliases=("Args", "Parameters", "Params", "Inputs", "Input", "Input Schema"),
        fields=PARAMETER.fields,
        children="parameters",
    ),
    SectionTable(
        "Prompt",
        "The text for the model; `{argument}` becomes the value, `\\{argument}` stays as it is.",
        aliases=("Text", "Template", "Message"),
        needed=True,
    ),
)

TABLES: dict[str, tuple[SectionTable, ...]] = {"tool": TOOL, "skill": SKILL, "prompt": PROMPT}


def section_of(kind: str, title: str) -> SectionTable | None:
    """Find the section that a heading names in a `tool`, a `skill` or a `prompt`."""
    return _SECTIONS[kind].get(fold(title))


_SECTIONS = {
    kind: {fold(name): table for table in tables for name in (table.name, *table.aliases)}
    for kind, tables in TABLES.items()
}


def elsewhere(kind: str, key: str, here: SectionTable) -> tuple[SectionTable, Field] | None:
    """Find the field that a key names in another section."""
    for table in TABLES[kind]:
        if table.name != here.name and table.children == "" and (found := table.field(key)):
            return table, found
    return None
