"""Every diagnostic's code, with what it means and what to do."""

from enum import StrEnum
from typing import Self


class Code(StrEnum):
    """The interface of a diagnostic; its message's words may change, its code does not."""

    says: str

    def __new__(cls, word: str, says: str) -> Self:
        """Make a member of the word and its sentence."""
        member = str.__new__(cls, word)
        member._value_ = word
        member.says = says
        return member

    @classmethod
    def of(cls, word: str) -> "Code":
        """Return the code of a word."""
        return cls._value2member_map_[word]  # type: ignore[return-value]

    # The file
    NOT_UTF8 = "not-utf8", "The file is not UTF-8. Save it as UTF-8."
    FILE_TOO_LARGE = "file-too-large", "The file is over 64 KiB, or Python over 1 MiB. Split it."
    UNREADABLE_FILE = "unreadable-file", "The file can't be opened; nothing of it was read."
    MISNAMED_FILE = (
        "misnamed-file",
        "A markdown file is not read: the name of a definition ends with .tool.md or .skill.md.",
    )
    OUTSIDE_ROOT = "outside-root", "A link leads out of the folder of definitions: not followed."
    EMPTY_FILE = "empty-file", "The file is empty."
    NESTED_TOO_DEEP = "nested-too-deep", "A list or an object is nested too deep to be read."
    UNCLOSED_FENCE = "unclosed-fence", "A code fence is never closed: it hides all that follows."
    UNCLOSED_COMMENT = "unclosed-comment", "A comment is never closed: it hides all that follows."
    UNREAD_LINE = "unread-line", "A line has no place in the definition."

    # Front matter
    FRONT_MATTER = "front-matter", "The YAML block at the head can't be read."
    FRONT_MATTER_COLON = (
        "front-matter-colon",
        "A value has a colon and no quotes; it was read as quoted.",
    )
    CONFLICT = "conflict", "Two places state the same thing differently."

    # Structure
    MISSING_TITLE = "missing-title", "The definition does not begin with `# Title`."
    MISSING_DESCRIPTION = "missing-description", "No paragraph below the title describes it."
    MISSING_SECTION = "missing-section", "A required section is missing."
    MISSPELT_SECTION = (
        "misspelt-section",
        "A section's title is misspelt; it was read as the nearest one, or rejected.",
    )
    DUPLICATE_SECTION = "duplicate-section", "A section occurs twice. Keep one."
    MISSING_NAME = "missing-name", "Name is missing, so the file's name is used."
    MISSING_VERSION = "missing-version", "Version is missing, so 1.0.0 is used."
    MISSING_CATEGORY = "missing-category", "Category is missing, so `general` is used."
    MISSING_FIELD = "missing-field", "A required field is missing."
    INVALID_NAME = "invalid-name", "A name is not a letter, then letters, digits and `_`."

    # Fields
    UNKNOWN_FIELD = "unknown-field", "No field of this name belongs here."
    MISSPELT_FIELD = (
        "misspelt-field",
        "A field's name is misspelt; it was read as the nearest one.",
    )
    DUPLICATE_FIELD = "duplicate-field", "A field occurs twice in one place. Keep one."
    MISPLACED_FIELD = "misplaced-field", "The field belongs in another section."
    UNSUPPORTED_FIELD = "unsupported-field", "Toolmd can't enforce this constraint. Use a rule."
    UNREADABLE_VALUE = "unreadable-value", "A field's value can't be read."
    UNREAD_DETAIL = "unread-detail", "Words next to a type are kept as text and enforce nothing."
    UNKNOWN_TYPE = "unknown-type", "A type is not one of JSON Schema's, nor a common word for one."
    MISSING_TYPE = "missing-type", "Type is missing, so `string` is used."
    FIELD_MISMATCH = "field-mismatch", "The field does not fit the parameter's type."
    DUPLICATE_PARAMETER = "duplicate-parameter", "Two parameters have one name."
    TOO_MANY = "too-many", "A definition may not contain so many of these."
    INVALID_ONE_OF = "invalid-one-of", "The shapes of One Of can't be read, or can't be told apart."
    EMPTY_ENUM = "empty-enum", "An enum has no values, so no value is allowed."
    INVALID_ENUM = "invalid-enum", "An enum's value does not fit the type."
    INVALID_DEFAULT = "invalid-default", "The parameter does not accept the default."
    INVALID_EXAMPLE = "invalid-example", "An example can't be read, or does not fit the tool."
    INVALID_PATTERN = "invalid-pattern", "A pattern is not RE2."
    INVALID_RANGE = "invalid-range", "A minimum is above its maximum, so no value fits."
    ARRAY_WITHOUT_ITEMS = (
        "array-without-items",
        "The array accepts any items. State their type with Items.",
    )
    INVALID_EXPRESSION = "invalid-expression", "An expression can't be compiled or does not fit."
    UNKNOWN_FACT = "unknown-fact", "An expression reads a fact of the caller that nobody declares."
    UNKNOWN_ROLE = "unknown-role", "A role is not among those that the settings list."
    DEFAULT_WITHOUT_RULE = (
        "default-without-rule",
        "A Default is the caller's own value, and no rule keeps a call from naming another's.",
    )
    FACT_BESIDE_ROLE = (
        "fact-beside-role",
        "A rule has an exception for a role, and Requires Context denies it a fact of others.",
    )
    CALLERS_APPROVE = "callers-approve", "The roles that may call a tool are those that approve it."
    AMBIGUOUS_NAME = "ambiguous-name", "An expression reads a name that stands for two things."
    TIME_ZONE_MISSING = "time-zone-missing", "A time of day or a date is read without a zone."
    APPROVAL_WITHOUT_WHEN = (
        "approval-without-when",
        "The section Approval does not say which calls need it, so it would hold none.",
    )
    CRISIS_FLAG = (
        "crisis-flag",
        "Escalate When is read as Crisis When. For a colleague's yes, write `## Approval`.",
    )
    RULE_MAY_NOT_COMPUTE = (
        "rule-may-not-compute",
        "A condition reads an optional argument that may be absent. Guard it by `has()`.",
    )
    UNREADABLE_RULE = (
        "unreadable-rule",
        "A rule is not one expression in a code span, and a message.",
    )
    PROSE_POLICY = "prose-policy", "The prose states a restriction that no field enforces."
    NO_PARAMETERS_READ = "no-parameters-read", "Nothing in this section was read as a parameter."

    # Steps
    UNKNOWN_STEP_KEY = "unknown-step-key", "A step has no key of this name."
    TWO_ACTIONS = "two-actions", "A step has several actions. Make a step for each."
    INVALID_STEP = "invalid-step", "The step's words can't be read."

    # Skills, checked against their tools
    UNKNOWN_TOOL = "unknown-tool", "A skill names a tool that does not exist."
    UNKNOWN_SKILL = "unknown-skill", "A skill names a skill that does not exist."
    NOT_REQUIRED = "not-required", "A step uses a tool or skill that the lists do not name."
    UNUSED_REQUIREMENT = "unused-requirement", "No step uses a tool or skill that is required."
    SKILL_CIRCLE = "skill-circle", "Skills call each other in a cycle, so none could end."
    UNKNOWN_ARGUMENT = "unknown-argument", "The tool has no parameter of this name."
    MISSING_ARGUMENT = "missing-argument", "A step leaves out an argument that the tool needs."
    ARGUMENT_MISMATCH = "argument-mismatch", "A value does not fit its parameter."
    INVALID_GIVEN = (
        "invalid-given",
        "A Given names a tool that the conditions can't read: Read Only, and it asks nobody.",
    )
    WORD_OR_NAME = "word-or-name", "Bare text is a word; a name needs a code span."
    INVALID_SCHEDULE = "invalid-schedule", "The runs of a Schedule could not start."
    UNATTENDED = "unattended", "A run of a Schedule needs a person, and nobody is there."
    NOT_A_TIME = "not-a-time", "The value of Wait is not a duration or a time."
    NOT_A_CONDITION = "not-a-condition", "The value of When or Check is not true or false."
    NOT_A_LIST = "not-a-list", "The value of For each is not a list."
    MAY_BE_UNSET = "may-be-unset", "A name is read that may have no value here. Guard it by has()."
    UNSAFE_RETRY = "unsafe-retry", "A tool to retry is neither Read Only nor Idempotent."
    UNKNOWN_JUMP = "unknown-jump", "A `go to` names no section of the workflow."
    JUMP_BACKWARDS = "jump-backwards", "A `go to` leads back. Steps run forward only."
    DUPLICATE_SAVE = "duplicate-save", "Two steps save under one name. Choose another."
    UNREACHABLE_STEP = "unreachable-step", "No path leads to this step."
    CONTEXT = "context", "No text input of the skill supplies a fact about the caller."
    NOT_EXECUTABLE = "not-executable", "The workflow is prose, which can't run without Python."

    # Settings
    UNREADABLE_SETTINGS = (
        "unreadable-settings",
        "The settings can't be read; the old ones stay in force.",
    )

    # Reloading
    WEAKENED_POLICY = (
        "weakened-policy",
        "An edit drops a restriction: the stricter one stays until `toolmd accept NAME`.",
    )
    STALE_DEFINITION = "stale-definition", "The file is broken; its last good version stays live."
    SUSPENDED_TOOL = "suspended-tool", "The file of a critical tool is broken: it can't be called."
    BASELINE_UNREADABLE = (
        "baseline-unreadable",
        "A definition has errors at the revision of `check --against`, so nothing is compared.",
    )
    WEAKENED_SETTINGS = (
        "weakened-settings",
        "The settings drop a restriction while they are in use: it stays until a restart.",
    )
    UNREADABLE_STATE = (
        "unreadable-state",
        "The live policy can't be saved: pending changes last only as long as this process.",
    )

    # Binding
    READER_FAILED = "reader-failed", "Toolmd itself failed on a file, which is not loaded."
    DUPLICATE_NAME = "duplicate-name", "Two definitions have one name; the first one stays."
    MISSING_FOLDER = (
        "missing-folder",
        "A folder that the settings name does not exist.",
    )
    IGNORED_FILE = (
        "ignored-file",
        "A file's name is almost that of a definition, so it was not read.",
    )
    BROKEN_PLUGIN = "broken-plugin", "A plugin can't be loaded or does not answer; it is left out."
    UNKNOWN_HOOK = "unknown-hook", "A plugin implements a hook that Toolmd does not have."
    CHANGED_PLUGIN = (
        "changed-plugin",
        "A plugin's Python changed since this process imported it: it counts after a restart.",
    )
    BROKEN_IMPLEMENTATION = "broken-implementation", "The Python of a definition can't be imported."
    IMPORT_TIMEOUT = "import-timeout", "The Python of a definition takes too long to import."
    AMBIGUOUS_FUNCTION = (
        "ambiguous-function",
        "Several modules of the folder have the tool's function. Name one with Implemented By.",
    )
    MISSING_FUNCTION = "missing-function", "The Python has no function of the definition's name."
    PARAMETER_DRIFT = "parameter-drift", "Markdown and Python do not have the same parameters."
    TYPE_DRIFT = "type-drift", "A type in Python rejects values that the markdown allows."
    UNPROVIDED_PARAMETER = "unprovided-parameter", "Nothing provides a keyword-only parameter."
    INVALID_OPERATION = (
        "invalid-operation",
        "What `Implemented By` names does not fit the settings or the parameters; calls fail.",
    )
    UNSET_VARIABLE = (
        "unset-variable",
        "A service or a server needs an environment variable that is not set: its calls fail.",
    )
    CHANGED_REMOTE_TOOL = (
        "changed-remote-tool",
        "An MCP server changed a tool since it was accepted: its calls are denied.",
    )
    BROKEN_REQUIREMENT = "broken-requirement", "A skill needs a definition that has errors itself."


CONSEQUENCES = frozenset({Code.STALE_DEFINITION, Code.SUSPENDED_TOOL})
"""What follows from errors of the same file, which are the cause."""
