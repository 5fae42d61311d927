"""Write the system prompt that teaches a model the tools and a text dialect's syntax."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from toolmd._dialect.body import compact
from toolmd._dialect.calls import CONFIDENCE
from toolmd._types.schema import Parameter, Schema
from toolmd._types.tool import ToolSpec
from toolmd._validation import limits_of, sample_arguments, type_words

_SURE = 0.95
"""The confidence in an example, unless the tool requires more."""


class ShownCall(NamedTuple):
    """A call for an example."""

    tool: str
    arguments: dict[str, Any]
    confidence: float


@dataclass(frozen=True, slots=True)
class Syntax:
    """How calls are written, in words and by example."""

    rules: str
    """A list in markdown."""
    write: Callable[[ShownCall], str]
    has_confidence: bool = False
    """Whether a call has a key for it; else it is the argument `_confidence`."""


def teach_tools(tools: Sequence[ToolSpec], syntax: Syntax) -> str:
    """Return the prompt: the syntax, then each tool, from the specs that the host enforces."""
    if not tools:
        return "You have no tools in this conversation. Answer in words.\n"
    parts = [f"# Tools\n\nYou can call the tools below. Only these exist.\n\n{syntax.rules}"]
    parts += ["\n".join(_tool(spec, syntax)) for spec in tools]
    return "\n\n".join(parts) + "\n"


def example_of(spec: ToolSpec, *, in_arguments: bool) -> ShownCall:
    """Return the tool's own first Example, or one built from its parameters."""
    own = next((e.arguments for e in spec.examples if e.error is None), None)
    arguments = own if own is not None else sample_arguments(spec.parameters, "…")
    threshold = spec.safety.min_confidence
    confidence = max(_SURE, threshold or 0)
    if in_arguments and threshold is not None:
        arguments = {**arguments, CONFIDENCE: confidence}
    return ShownCall(spec.name, dict(arguments), confidence)


def _tool(spec: ToolSpec, syntax: Syntax) -> Iterator[str]:
    yield f"## {spec.name}"
    yield ""
    yield spec.description
    if spec.when_to_use:
        yield f"When to use it: {spec.when_to_use}"
    yield from _policy(spec)
    if spec.parameters:
        yield "Parameters:"
        for parameter in spec.parameters:
            yield from _parameter(parameter, "")
    else:
        yield "No parameters."
    if not syntax.has_confidence and (least := spec.safety.min_confidence) is not None:
        yield f"- `{CONFIDENCE}` (number, required, 0 to 1): how sure you are; at least {least:g}"
    yield from (f"- {rule.message}" for rule in spec.rules)
    if spec.returns.description:
        yield f"Returns: {spec.returns.description}"
    yield f"Example: {syntax.write(example_of(spec, in_arguments=not syntax.has_confidence))}"


def _policy(spec: ToolSpec) -> Iterator[str]:
    safety = spec.safety
    if safety.min_confidence is not None:
        yield f"Call it only with a confidence of at least {safety.min_confidence:g}; else ask."
    if safety.explicit_intent:
        yield "Call it only when the user has asked for it in words."
    if safety.requires_confirmation or safety.sensitivity == "critical":
        yield "The user is shown the call and must confirm it before it runs."


def _parameter(parameter: Parameter, indent: str) -> Iterator[str]:
    shape = parameter.shape
    need = "required" if parameter.required else "optional"
    traits = ", ".join([type_words(shape, " or "), need, *_limits(shape)])
    said = f": {shape.description}" if shape.description else ""
    yield f"{indent}- `{parameter.name}` ({traits}){said}"
    inner = shape.items if shape.properties is None and shape.one_of is None else shape
    for each in (inner and inner.one_of) or ():
        about = f": {each.shape.description}" if each.shape.description else ""
        yield f"{indent}  - shape `{each.name}`{about}"
        for field in each.shape.properties or ():
            yield from _parameter(field, indent + "    ")
    for field in (inner and inner.properties) or ():
        yield from _parameter(field, indent + "  ")


def _limits(shape: Schema) -> Iterator[str]:
    if shape.enum is not None:
        yield "one of " + ", ".join(compact(value) for value in shape.enum)
    if shape.one_of is not None:
        yield "exactly one of " + ", ".join(f"`{each.name}`" for each in shape.one_of)
    yield from limits_of(shape, without=("sensitive",))
    if shape.items is not None:
        yield from (f"each {limit}" for limit in _limits(shape.items))
    if shape.has_default:
        yield f"default {compact(shape.default)}"
