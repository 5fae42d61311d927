"""Check values against a Schema: read JSON text safely, validate arguments, explain errors."""

from toolmd._validation.arguments import ArgumentsValidator, InvalidArgumentsError
from toolmd._validation.explain import MAX_PROBLEMS, fitting_objects, problems
from toolmd._validation.keywords import PatternError, pattern_fault
from toolmd._validation.shape import are_apart, fits, is_bounded, shapes_for
from toolmd._validation.strict_json import MalformedError, is_large, read_object
from toolmd._validation.words import (
    choices_of,
    joined,
    limits_of,
    sample,
    sample_arguments,
    shown_value,
    type_words,
)

__all__ = [
    "MAX_PROBLEMS",
    "ArgumentsValidator",
    "InvalidArgumentsError",
    "MalformedError",
    "PatternError",
    "are_apart",
    "choices_of",
    "fits",
    "fitting_objects",
    "is_bounded",
    "is_large",
    "joined",
    "limits_of",
    "pattern_fault",
    "problems",
    "read_object",
    "sample",
    "sample_arguments",
    "shapes_for",
    "shown_value",
    "type_words",
]
