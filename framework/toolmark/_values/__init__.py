"""Values held against a Schema: JSON text read safely, arguments validated, mistakes explained."""

from toolmark._values.arguments import ArgumentsValidator, InvalidArgumentsError
from toolmark._values.explain import problems
from toolmark._values.json_text import MalformedError, read_object
from toolmark._values.patterns import PatternError, pattern_fault
from toolmark._values.sample import sample, sample_arguments
from toolmark._values.shape import fits, is_bounded
from toolmark._values.words import shown_value

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
