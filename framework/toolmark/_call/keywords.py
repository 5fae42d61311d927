"""Bring a call's arguments to an implementation's parameters, and what it is given beside them."""

from collections.abc import Callable
from typing import Any

from toolmark._call.context import CallContext
from toolmark._call.refusal import refuse
from toolmark._model.registry import Implementation
from toolmark._model.verdict import Problem
from toolmark._values import shown_value


async def keywords_of(
    implementation: Implementation, arguments: dict[str, Any], context: CallContext
) -> dict[str, Any]:
    """Give the keywords of the call: renamed, converted, with Context and resources.

    Raises a Refusal for a value that its parameter's annotated type can't hold.
    """
    names, converters = implementation.names, implementation.converters
    keywords = {}
    for name, value in arguments.items():
        convert = converters.get(name)
        taken = value if convert is None else _converted(name, value, convert, context)
        keywords[names.get(name, name)] = taken
    if implementation.context is not None:
        keywords[implementation.context] = context
    for name, kind in implementation.resources.items():
        keywords[name] = await context.resource(kind)
    return keywords


def _converted(name: str, value: Any, convert: Callable[[Any], Any], context: CallContext) -> Any:
    try:
        return convert(value)
    except ValueError:
        # Its reason may quote a Sensitive value.
        wanted = getattr(convert, "wanted", "")
        got = shown_value(value, sensitive=context.is_sensitive(name))
        message = f"{name} must be {wanted or 'what the tool can take'}; got {got}"
        problem = Problem("invalid_value", name, message, wanted, got)
        raise refuse("invalid_arguments", message, (problem,)) from None
