"""The fields of a parameter: type, constraints, default and description."""

from toolmd._parse.fields.field import Field, SectionTable
from toolmd._parse.words.keys import fold, plain
from toolmd._parse.words.slips import nearest
from toolmd._types.schema import KEYWORDS

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
            "Each Value",
            "values",
            "items",
            "The schema of every value of an object with any fields: nested fields, or a type.",
            aliases=("Value Type", "Map Values", "Value Schema"),
            fits=("object",),
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
            "One Of",
            "one_of",
            "shapes",
            "The shapes of which an object is exactly one: nested bullets, one for each shape; "
            "with plain values it is read as Enum.",
        ),
        *(
            Field(
                row.name,
                attribute,
                row.kind,
                row.says,
                "no" if row.kind == "boolean" else "",
                aliases=row.aliases,
                restricts=row.restricts,
                fits=row.fits,
            )
            for attribute, row in KEYWORDS.items()
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
        "exclusiveMinimum exclusiveMaximum multipleOf range not anyOf allOf if then else "
        "contains minContains maxContains minProperties maxProperties patternProperties "
        "propertyNames dependentRequired dependentSchemas dependencies prefixItems "
        "additionalProperties unevaluatedProperties const length size"
    ).split()
)
"""Constraints of JSON Schema and common practice that Toolmd reports and can't enforce."""


def names_field(key: str) -> bool:
    """Return whether a key names a field of a parameter."""
    return PARAMETER.field(key) is not None


def near_field(key: str) -> str | None:
    """Return the field of a parameter that a key misspells, or None."""
    return nearest(plain(key), [f.name for f in PARAMETER.fields])
