"""Values held against a Schema: JSON text read safely, arguments validated, mistakes explained."""

from toolmd._values.arguments import ArgumentsValidator, InvalidArgumentsError
from toolmd._values.explain import problems
from toolmd._values.json_text import MalformedError, read_object
from toolmd._values.patterns import PatternError, pattern_fault
from toolmd._values.sample import sample, sample_arguments
from toolmd._values.shape import fits, is_bounded
from toolmd._values.words import shown_value

__all__ = [
    "ArgumentsValidator",
    "InvalidArgumentsError",
    "MalformedError",
    "PatternError",
    "fits",
    "is_bounded",
    "pattern_fault",
    "problems",
    "read_object",
    "sample",
    "sample_arguments",
    "shown_value",
]
