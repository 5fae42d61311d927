"""Start an implementation, in whichever way it runs."""

from collections.abc import Awaitable
from typing import Any

from toolmark._call.answer import as_json
from toolmark._call.context import CallContext
from toolmark._call.deadline import last_of
from toolmark._call.keywords import keywords_of
from toolmark._call.threads import in_thread
from toolmark._model.registry import Implementation
from toolmark._model.result import Event

Arguments = dict[str, Any]


async def start(implementation: Implementation, arguments: Arguments, context: CallContext) -> Any:
    """Await what an implementation gives; raises what it raises."""
    keywords = await keywords_of(implementation, arguments, context)
    function = implementation.function
    match implementation.mode:
        case "sync":
            return await in_thread(lambda: function(**keywords))
        case "stream":

            async def tell(item: Any) -> None:
                data = as_json(item)
                await context.tell(Event("item", context.tool, context.call_id, data))

            return await last_of(function(**keywords), tell)
        case _:
            value = function(**keywords)
            return await value if isinstance(value, Awaitable) else value
