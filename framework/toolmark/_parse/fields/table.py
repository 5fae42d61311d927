"""The field table: every section's and field's name, aliases, kind, default and meaning."""

from dataclasses import dataclass
from functools import cached_property

from toolmark._model.schema import JsonType
from toolmark._parse.words.keys import fold


@dataclass(frozen=True, slots=True)
class Field:
    """One `- **Name**: value` that an author may write."""

    name: str
    attribute: str
    """The noun's field that it fills."""
    kind: str
    """How its value is read: a key of `values.READERS`, or of its section's own reader."""
    says: str
    """One sentence for the reference page."""
    default: str = ""
    """What is taken where it is not written, in words."""
    aliases: tuple[str, ...] = ()
    restricts: bool = False
    """Whether a misspelt one must close the door instead of being repaired."""
    choices: tuple[str, ...] = ()
    fits: tuple[JsonType, ...] = ()
    """The types that it speaks of; empty fits any."""


@dataclass(frozen=True)
class SectionTable:
    """One `## Name` and the fields below it."""

    name: str
    says: str
    aliases: tuple[str, ...] = ()
    needed: bool = False
    fields: tuple[Field, ...] = ()
    children: str = ""
    """What its `###` headings are: parameters, examples, steps or fields of a result."""
    restricts: bool = False

    def field(self, key: str) -> Field | None:
        """Find the field that a key names, in any way of writing it."""
        return self._by_key.get(fold(key))

    @cached_property
    def _by_key(self) -> dict[str, Field]:
        return {fold(name): f for f in self.fields for name in (f.name, f.attribute, *f.aliases)}


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
            aliases=("Auth", "Auth Required", "Authentication", "Requires Authentication"),
            restricts=True,
        ),
        Field(
            "Requires Patient Context",
            "requires_patient_context",
            "boolean",
            "A call needs a patient, named by the host.",
            "no",
            aliases=("Patient Context", "Requires Patient", "Patient Context Required"),
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

PARAMETER = SectionTable(
    "Parameter",
    "What one value may be.",
    fields=(
        Field("Type", "types", "type", "JSON Schema's types, or Python's and TypeScript's words."),
        Field(
            "Required",
            "required",
            "boolean",
            "Whether a call must give it.",
            "no",
            aliases=("Mandatory", "Req"),
        ),
        Field("Optional", "optional", "boolean", "The opposite of Required.", "yes"),
        Field(
            "Description",
            "description",
            "prose",
            "What the value means, for the model.",
            aliases=("Desc", "Details", "Meaning"),
        ),
        Field(
            "Default",
            "default",
            "literal",
            "Taken where a call gives none.",
            aliases=("Default Value", "Defaults To"),
        ),
        Field(
            "Enum",
            "enum",
            "enum",
            "The values that it may take.",
            aliases=(
                "Enum Values",
                "Allowed Values",
                "Allowed",
                "Choices",
                "Options",
                "One Of",
                "Possible Values",
                "Valid Values",
                "Values",
            ),
        ),
        Field(
            "Items",
            "items",
            "items",
            "What each item of an array is: nested fields, or a type.",
            aliases=("Item", "Item Type", "Items Type", "Elements"),
            fits=("array",),
        ),
        Field(
            "Properties",
            "properties",
            "properties",
            "The fields of an object: nested bullets, one a field.",
            aliases=("Fields", "Props", "Attributes", "Keys"),
            fits=("object",),
        ),
        Field(
            "Minimum",
            "minimum",
            "number",
            "The least value.",
            aliases=("Min", "Min Value", "Minimum Value"),
            fits=("number", "integer"),
        ),
        Field(
            "Maximum",
            "maximum",
            "number",
            "The greatest value.",
            aliases=("Max", "Max Value", "Maximum Value"),
            fits=("number", "integer"),
        ),
        Field(
            "Min Length",
            "min_length",
            "whole",
            "The least length in characters (code points).",
            aliases=("Minimum Length",),
            fits=("string",),
        ),
        Field(
            "Max Length",
            "max_length",
            "whole",
            "The greatest length in characters (code points).",
            aliases=("Maximum Length",),
            fits=("string",),
        ),
        Field(
            "Pattern",
            "pattern",
            "pattern",
            "A regular expression (RE2) that the whole text must match.",
            aliases=("Regex", "Regexp", "Regular Expression"),
            fits=("string",),
        ),
        Field(
            "Format",
            "format",
            "word",
            "`date`, `time`, `date-time`, `email`, `uri`, `uuid`: checked; others are notes.",
            fits=("string",),
        ),
        Field(
            "Min Items",
            "min_items",
            "whole",
            "The least number of items.",
            aliases=("Minimum Items",),
            fits=("array",),
        ),
        Field(
            "Max Items",
            "max_items",
            "whole",
            "The greatest number of items.",
            aliases=("Maximum Items",),
            fits=("array",),
        ),
        Field(
            "Unique",
            "unique",
            "boolean",
            "No item stands twice.",
            "no",
            aliases=("Unique Items",),
            fits=("array",),
        ),
        Field("Unit", "unit", "text", "What a number counts, such as `ml`.", aliases=("Units",)),
        Field("Example", "example", "literal", "A value to show.", aliases=("Examples", "E.g.")),
        Field(
            "Sensitive",
            "sensitive",
            "boolean",
            "Hidden in logs, traces and records.",
            "no",
            restricts=True,
        ),
        Field(
            "Verbatim",
            "verbatim",
            "boolean",
            "Must be something that the user said.",
            "no",
            restricts=True,
        ),
    ),
)

_RETURN_FIELDS = tuple(
    f for f in PARAMETER.fields if f.attribute not in {"required", "optional", "verbatim"}
)

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
        fields=_RETURN_FIELDS,
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
            aliases=("Requires Tools", "Tools"),
        ),
        Field(
            "Required Skills",
            "required_skills",
            "names",
            "The only skills that its steps may call.",
            restricts=True,
            aliases=("Requires Skills", "Skills"),
        ),
        Field(
            "Patient From",
            "patient_from",
            "word",
            "The input that names the patient for tools that need one.",
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

UNSUPPORTED = frozenset(
    fold(word)
    for word in (
        "exclusiveMinimum exclusiveMaximum multipleOf range not oneOf anyOf allOf if then else "
        "contains minContains maxContains minProperties maxProperties patternProperties "
        "propertyNames dependentRequired dependentSchemas dependencies prefixItems "
        "additionalProperties unevaluatedProperties const length size"
    ).split()
)
"""Constraints of JSON Schema and of habit that Toolmark does not hold: refused, not dropped."""


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
