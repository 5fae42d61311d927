"""The sections of a tool and a skill, in the order of a file, and the rows of each.

The rows of Metadata, Safety and Limits stand at the fields of their classes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from toolmd._parse.scalars import UNITS
from toolmd._parse.words import fold, nearest, plain
from toolmd._types.approval import Approval
from toolmd._types.call_spec import CallSpec, Limits, Safety, ToolCallSpec
from toolmd._types.field import Row, rows_of
from toolmd._types.schema import Parameter, Schema
from toolmd._types.skill import STEP_KEYS, SkillSpec
from toolmd._types.tool import FileSpec


@dataclass(frozen=True)
class SectionTable:
    """A `## Name` section and the fields below it."""

    name: str
    says: str
    aliases: tuple[str, ...] = ()
    needed: bool = False
    fields: tuple[Row, ...] = ()
    children: str = ""
    """The meaning of its `###` headings: parameters, examples, steps or fields of a result."""
    restricts: bool = False

    def field(self, key: str) -> Row | None:
        """Find the field that a key names, in any spelling."""
        folded = fold(key)
        found = self.by_key.get(folded)
        if found is not None and found.unit == "s" and key[-2:].isalpha() and key[-2:].islower():
            return self.by_key.get(folded.removesuffix("s"), found)  # `Timeouts` is not `Timeout S`
        return found

    @cached_property
    def by_key(self) -> dict[str, Row]:
        """Return the fields by every folded name that an author may write."""
        keys = {key: field for row in self.fields for key, field in _with_units(row)}
        for field in self.fields:
            keys.setdefault(fold(field.attribute), field)
            keys |= dict.fromkeys(map(fold, field.names), field)
        return keys


def _with_units(row: Row) -> Iterator[tuple[str, Row]]:
    """Yield each folded name that contains a unit, with the row of that unit."""
    for word, unit in UNITS.get(row.kind, {}).items():
        carrying = row._replace(unit=unit)
        for name in (*row.names, *row.stems):
            yield fold(name) + word, carrying
            yield f"{fold(name)}in{word}", carrying


_TYPE, *_MORE = (row for row in rows_of(Schema) if row.attribute != "from_caller")
_OPTIONAL = Row("boolean", "The opposite of Required.", "yes", "Optional", "optional")
PARAMETER = SectionTable(
    "Parameter",
    "The schema of one value.",
    fields=(_TYPE, *rows_of(Parameter), _OPTIONAL, *_MORE),
)
RETURN_FIELDS = tuple(
    f for f in PARAMETER.fields if f.attribute not in {"required", "optional", "verbatim"}
)
"""The fields of a result, which a model does not supply and a user does not say."""
UNSUPPORTED = frozenset(
    fold(word)
    for word in (
        "exclusiveMinimum exclusiveMaximum multipleOf range not anyOf allOf if then else "
        "contains minContains maxContains minProperties maxProperties patternProperties "
        "propertyNames dependentRequired dependentSchemas dependencies prefixItems "
        "additionalProperties unevaluatedProperties const length size"
    ).split()
)
"""Constraints of JSON Schema and common practice that Toolmd reports and can't enforce."""

_NAME = rows_of(CallSpec)
*_HEAD, _TAGS = (*_NAME, *rows_of(FileSpec))


def _with(rows: tuple[Row, ...], after: str, one: Row) -> tuple[Row, ...]:
    """Return rows with one more behind that of an attribute."""
    at = [row.attribute for row in rows].index(after) + 1
    return (*rows[:at], one, *rows[at:])


# fmt: off
_PATIENT = Row(
    "boolean", "`yes` means the same as `Requires Context: patient`.", "no",
    "Requires Patient Context",
    "requires_patient_context", restricts=True,
    aliases=("Patient Context", "Requires Patient", "Patient Context Required",
             "Require Patient Context", "Needs Patient Context"))
_PATIENT_FROM = Row(
    "word", "`patientId` means the same as `Context: patient from patientId`.", "", "Patient From",
    "patient_from", restricts=True)
_DISABLE = Row(
    "boolean", "`yes` means the same as `Model Invocation: no`.", "no", "Disable Model Invocation",
    "disable_model_invocation", restricts=True)
TOOL_METADATA = SectionTable(
    "Metadata", "The tool's name and its requirements on the caller.", ("Meta", "Info"),
    needed=True,
    fields=(*_HEAD, *_with(_with(rows_of(ToolCallSpec), "requires_context", _PATIENT),
                           "implemented_by", _TAGS)))
SKILL_METADATA = SectionTable(
    "Metadata", "The skill's name and the tools and skills that it may use.", ("Meta", "Info"),
    needed=True,
    fields=(*_HEAD, *_with(_with(rows_of(SkillSpec), "context", _PATIENT_FROM),
                           "model_invocation", _DISABLE), _TAGS))
INVOCATION = tuple(row for row in SKILL_METADATA.fields if row.attribute in {
    "model_invocation", "disable_model_invocation", "user_invocable", "allowed_tools",
    "disallowed_tools"})
"""The rows that say who may start a skill and which tools it may use, as in Agent Skills."""
SAFETY = SectionTable(
    "Safety", "The conditions that each call must meet, through every interface.",
    restricts=True, fields=rows_of(Safety))
APPROVAL = SectionTable(
    "Approval", "The approval of a call by another person. Write each of several approvals below "
    "its own `### title`.",
    ("Approvals", "Four Eyes"), restricts=True, fields=rows_of(Approval), children="approvals")
_MAX_CALLS = Row(
    "count", "`3` means the same as `Quota: 3 calls per conversation ever`.", "", "Max Calls",
    "max_calls",
    restricts=True,
    aliases=("Maximum Calls", "Max Call", "Max Number Of Calls", "Max Calls Per Conversation"))
LIMITS = SectionTable(
    "Limits", "Limits on the time, size and number of calls.", restricts=True,
    fields=_with(rows_of(Limits), "allowed_hours", _MAX_CALLS))
_WHEN_TO_USE = SectionTable(
    "When to use", "Text for the model. Every export has it after the description.",
    ("When to use it", "When to use this tool", "When to use this skill", "Usage"))
TOOL = (
    TOOL_METADATA,
    _WHEN_TO_USE,
    SectionTable(
        "Parameters", "Write `### name` for each value that a call supplies.",
        ("Params", "Arguments", "Args", "Inputs", "Input", "Input Schema", "Input Parameters",
         "Parameter"), needed=True, fields=PARAMETER.fields, children="parameters"),
    SectionTable(
        "Returns", "The result of a call.",
        ("Return", "Output", "Outputs", "Response", "Return Value", "Return Values",
         "Output Schema"), needed=True, fields=RETURN_FIELDS, children="properties"),
    SectionTable(
        "Rules", "Conditions that the arguments must meet: `` - `a < b`: The message if it is "
        "false. ``",
        ("Rule", "Validation Rules"), restricts=True, fields=(Row(
            "given", "The result of a Read Only tool, and the name by which the conditions read "
            "it: `order from get_order`. Write the tool's arguments as bullets below it.", "",
            "Given", "given", restricts=True),)),
    SAFETY,
    APPROVAL,
    LIMITS,
    SectionTable(
        "Errors", "The code and message of the failure for an exception of the function: "
        "`` - `KeyError`: no_order: No order. ``",
        children="errors"),
    SectionTable(
        "Examples", "Write `### title` for each example. Below it, write its arguments and result "
        "as JSON.",
        ("Example",), children="examples"),
)
SKILL = (
    SKILL_METADATA,
    _WHEN_TO_USE,
    SectionTable(
        "Workflow", "A text for people, and the numbered steps.", ("Steps", "Workflow Steps"),
        needed=True, children="steps"),
    SectionTable(
        "Input Schema", "Write `### name` for each input.",
        ("Inputs", "Input", "Parameters", "Params", "Arguments", "Args"), needed=True,
        fields=PARAMETER.fields, children="parameters"),
    SectionTable(
        "Output Schema", "A description of each part of the SkillResult.",
        ("Output", "Outputs", "Returns", "Return", "Response"), needed=True,
        fields=tuple(Row("text", says, "", name, name.lower()) for name, says in (
            ("Type", "Always `object`, which is the SkillResult."),
            ("Success", "The meaning of success."),
            ("Message", "The content of the message."),
            ("Data", "The content of the data."),
            ("Error", "The content of an error.")))),
)
# fmt: on
TABLES: dict[str, tuple[SectionTable, ...]] = {"tool": TOOL, "skill": SKILL}
_SECTIONS = {
    kind: {fold(name): table for table in tables for name in (table.name, *table.aliases)}
    for kind, tables in TABLES.items()
}


def section_of(kind: str, title: str) -> SectionTable | None:
    """Find the section that a heading names in a `tool` or a `skill`."""
    return _SECTIONS[kind].get(fold(title))


def near_field(key: str) -> str | None:
    """Return the field of a parameter that a key misspells, or None."""
    return nearest(plain(key), [f.name for f in PARAMETER.fields])


ACTIONS = tuple(name for name, row in STEP_KEYS.items() if row.acts)
TIMEOUT_UNITS = {f"timeout{word}": unit for word, unit in UNITS["duration"].items()}
"""The folded spellings of Timeout with a unit, such as `Timeout Seconds`, to the unit."""
KEY_BY_FOLD = {fold(key): key for key in STEP_KEYS} | dict.fromkeys(TIMEOUT_UNITS, "Timeout")
"""Each folded key to the key."""
_INSTEAD = {fold(word): name for name, row in STEP_KEYS.items() for word in row.instead.split(", ")}


def step_key(name: str) -> str | None:
    """Return the key of a step that a name is, or misspells; None for any other name."""
    return KEY_BY_FOLD.get(fold(name)) or nearest(plain(name), STEP_KEYS)


def key_instead(name: str) -> str | None:
    """Return the key of a step to suggest for a name."""
    return step_key(name) or _INSTEAD.get(fold(name))
