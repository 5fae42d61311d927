"""The field table: every section of a tool and of a skill, in the order of a file."""

from toolmd._parse.fields.field import Field, SectionTable
from toolmd._parse.fields.parameter import PARAMETER, RETURN_FIELDS
from toolmd._parse.fields.policy import LIMITS, SAFETY
from toolmd._parse.words.keys import fold

_NAME = Field("Name", "name", "identifier", "The name by which it is called.", "the file's name")
_VERSION = Field("Version", "version", "text", "Kept as text: `1.10` stays `1.10`.", "1.0.0")
_CATEGORY = Field("Category", "category", "text", "A word to sort by.", "general")
_TAGS = Field("Tags", "tags", "list", "Words to find it by.", aliases=("Tag", "Labels", "Keywords"))

TOOL_METADATA = SectionTable(
    "Metadata",
    "What the tool is called and what it asks of its caller.",
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
            "A call needs a user, named by the host.",
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
        _TAGS,
        Field(
            "Read Only",
            "read_only",
            "boolean",
            "The tool changes nothing, so a failed call may be tried again.",
            "no",
        ),
        Field(
            "Idempotent",
            "idempotent",
            "choice",
            "Whether a second equal call changes nothing more; `keyed`: given the same key.",
            "no",
            choices=("yes", "no", "keyed"),
        ),
        Field(
            "Unknown Parameters",
            "unknown_parameters",
            "choice",
            "What happens to an argument that no parameter names.",
            "reject",
            restricts=True,
            aliases=("Unknown Params", "Unknown Arguments"),
            choices=("reject", "ignore"),
        ),
    ),
)

_WHEN_TO_USE = SectionTable(
    "When to use",
    "Prose for the model, behind the description in every export.",
    aliases=("When to use it", "When to use this tool", "When to use this skill", "Usage"),
)

TOOL = (
    TOOL_METADATA,
    _WHEN_TO_USE,
    SectionTable(
        "Parameters",
        "One `### name` for each value that a call gives.",
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
        "What a call gives back.",
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
        "Conditions over the arguments: `` - `a < b`: What is wrong where it is false. ``",
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
    "What the skill is called and what it may use.",
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
            "Which input supplies which fact about the caller: `patient from patientId`.",
            restricts=True,
        ),
        Field(
            "Patient From",
            "patient_from",
            "word",
            "`patientId` is read as `Context: patient from patientId`.",
            restricts=True,
        ),
        Field("Durable", "durable", "boolean", "Whether a run outlives its process.", "yes"),
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
        "The SkillResult, and what stands behind each part.",
        aliases=("Output", "Outputs", "Returns", "Return", "Response"),
        needed=True,
        fields=(
            Field("Type", "type", "text", "`object`, the SkillResult."),
            Field("Success", "success", "text", "What success means."),
            Field("Message", "message", "text", "What the message tells."),
            Field("Data", "data", "text", "What the data holds."),
            Field("Error", "error", "text", "What an error tells."),
        ),
    ),
)

TABLES: dict[str, tuple[SectionTable, ...]] = {"tool": TOOL, "skill": SKILL}


def section_of(kind: str, folded: str) -> SectionTable | None:
    """Find the section that a folded heading names in a `tool` or a `skill`."""
    return _SECTIONS[kind].get(folded)


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
