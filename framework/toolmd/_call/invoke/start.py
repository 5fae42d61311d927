"""Start an implementation: async, in a thread or inline, with its keyword arguments."""

from collections.abc import AsyncIterator, Awaitable, Callable
from types import CoroutineType
from typing import Any

from toolmd._call.denial import deny
from toolmd._call.invoke.context import CallContext
from toolmd._call.result.answer import as_json
from toolmd._call.result.parts import lifted
from toolmd._call.threads import CALLS
from toolmd._types.registry import Implementation
from toolmd._types.result import Event
from toolmd._types.verdict import Problem
from toolmd._validation import shown_value

Arguments = dict[str, Any]


async def start(
    implementation: Implementation,
    arguments: Arguments,
    context: Callable[[], CallContext],
    begin: Callable[[], None] = lambda: None,
) -> Any:
    """Return what an implementation returns; raises what it raises.

    `context` returns the context of the call. `begin` is called when the function starts: a
    blocking one may wait for a thread first.
    """
    _, _, function, mode, names, converters, wanted, resources, _ = implementation
    keywords = arguments
    if names or converters or wanted is not None or resources:
        keywords = await _keywords_of(implementation, arguments, context())
    if mode == "sync":
        value = await CALLS.run(lambda: function(**keywords), begin)
    elif mode == "stream":
        begin()
        return await _last_of(function(**keywords), context())
    else:
        begin()
        value = function(**keywords)
        if type(value) is CoroutineType:
            return await value
    # Also of a sync function: a plain decorator around an async one.
    return await value if isinstance(value, Awaitable) else value


async def _keywords_of(
    implementation: Implementation, arguments: dict[str, Any], context: CallContext
) -> dict[str, Any]:
    """Return the call's keyword arguments: renamed, converted, with Context and resources.

    Raises CallDenied for a value that the parameter's annotated type rejects.
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
        raise deny("invalid_arguments", message, (problem,)) from None


async def _last_of(items: AsyncIterator[Any], context: CallContext) -> Any:
    """Return the last item of a stream; each item is an event."""
    last = None
    try:
        async for item in items:
            last = item
            found = lifted(item)
            data = as_json(item if found is None else found.value)
            await context.send(Event("item", context.tool, context.call_id, data))
    finally:
        if (close := getattr(items, "aclose", None)) is not None:
            await close()
    return last
