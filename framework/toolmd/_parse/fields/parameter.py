"""The fields of a parameter: type, constraints, default and description."""

from toolmd._parse.fields.field import Field, SectionTable
from toolmd._parse.words.keys import fold

PARAMETER = SectionTable(
    "Parameter",
    "The schema of one value.",
    fields=(
        Field("Type", "types", "type", "JSON Schema's types, or Python's and TypeScript's words."),
        Field(
            "Required",
            "required",
            "boolean",
            "Whether a call must supply it.",
            "no",
            aliases=("Mandatory", "Req"),
        ),
        Field("Optional", "optional", "boolean", "The opposite of Required.", "yes"),
        Field(
            "Description",
            "description",
            "prose",
            "The meaning of the value, for the model.",
            aliases=("Desc", "Details", "Meaning"),
        ),
        Field(
            "Default",
            "default",
            "literal",
            "The value that a call without one uses.",
            aliases=("Default Value", "Defaults To"),
        ),
        Field(
            "Enum",
            "enum",
            "enum",
            "The allowed values.",
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
            "The schema of an array's items: nested fields, or a type.",
            aliases=("Item", "Item Type", "Items Type", "Elements"),
            fits=("array",),
        ),
        Field(
            "Properties",
            "properties",
            "properties",
            "The fields of an object: nested bullets, one for each field.",
            aliases=("Fields", "Props", "Attributes", "Keys"),
            fits=("object",),
        ),
        Field(
            "Minimum",
            "minimum",
            "number",
            "The smallest value.",
            aliases=("Min", "Min Value", "Minimum Value"),
            fits=("number", "integer"),
        ),
        Field(
            "Maximum",
            "maximum",
            "number",
            "The largest value.",
            aliases=("Max", "Max Value", "Maximum Value"),
            fits=("number", "integer"),
        ),
        Field(
            "Min Length",
            "min_length",
            "whole",
            "The smallest length in characters (code points).",
            aliases=("Minimum Length",),
            fits=("string",),
        ),
        Field(
            "Max Length",
            "max_length",
            "whole",
            "The largest length in characters (code points).",
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
            "The smallest number of items.",
            aliases=("Minimum Items",),
            fits=("array",),
        ),
        Field(
            "Max Items",
            "max_items",
            "whole",
            "The largest number of items.",
            aliases=("Maximum Items",),
            fits=("array",),
        ),
        Field(
            "Unique",
            "unique",
            "boolean",
            "No two items are equal.",
            "no",
            aliases=("Unique Items",),
            fits=("array",),
        ),
        Field("Unit", "unit", "text", "The unit of a number, such as `ml`.", aliases=("Units",)),
        Field("Example", "example", "literal", "A value to show.", aliases=("Examples", "E.g.")),
        Field(
            "Sensitive",
            "sensitive",
            "boolean",
            "Hidden in logs, traces and records.",
            "no",
            restricts=True,
            aliases=("Is Sensitive", "Sensitive Value", "Contains Sensitive Data"),
        ),
        Field(
            "Verbatim",
            "verbatim",
            "boolean",
            "The user must have said the value.",
            "no",
            restricts=True,
        ),
    ),
)

RETURN_FIELDS = tuple(
    f for f in PARAMETER.fields if f.attribute not in {"required", "optional", "verbatim"}
)
"""The fields of a result, which a model does not supply and a user does not say."""

UNSUPPORTED = frozenset(
    fold(word)
    for word in (
        "exclusiveMinimum exclusiveMaximum multipleOf range not oneOf anyOf allOf if then else "
        "contains minContains maxContains minProperties maxProperties patternProperties "
        "propertyNames dependentRequired dependentSchemas dependencies prefixItems "
        "additionalProperties unevaluatedProperties const length size"
    ).split()
)
"""Constraints of JSON Schema and common practice that Toolmd reports and can't enforce."""
