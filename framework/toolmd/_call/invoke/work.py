"""Run the work of one call: start the implementation, in batches and tries within the limits."""

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from types import CoroutineType
from typing import Any

from toolmd._call.denial import CallDenied, deny
from toolmd._call.invoke.batch import in_pieces, joined, skipped_note
from toolmd._call.invoke.context import CallContext, CallServices
from toolmd._call.invoke.tries import Tries
from toolmd._call.limits import CallLimits
from toolmd._call.result.answer import as_json
from toolmd._call.result.parts import lifted
from toolmd._call.threads import CALLS
from toolmd._types.call import Call
from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.registry import Implementation
from toolmd._types.result import Event, EventListener
from toolmd._types.verdict import Problem
from toolmd._validation import shown_value
from toolmd.errors import ToolError

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
    _, _, function, mode, names, converters, wanted, resources, *_ = implementation
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
    except ValueError as error:
        # A reason may quote a Sensitive value.
        sensitive = context.is_sensitive(name)
        wanted = getattr(convert, "wanted", "")
        reasons = getattr(convert, "reasons", None)
        told = [] if sensitive or reasons is None else reasons(error, value, name)
        if not told:
            got = shown_value(value, sensitive=sensitive)
            message = f"{name} must be {wanted or 'what the tool can take'}; got {got}"
            problem = Problem("invalid_value", name, message, wanted, got)
            raise deny("invalid_arguments", message, (problem,)) from None
        problems = tuple(Problem("invalid_value", path, message) for path, message in told)
        message = "; ".join(problem.message for problem in problems)
        raise deny("invalid_arguments", message, problems) from None


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


class Work:
    """A running call; its context is built where the implementation takes one."""

    __slots__ = (
        "_call",
        "_call_spec",
        "_dispatcher",
        "_implementation",
        "_limits",
        "_on_event",
        "_seconds",
        "begun",
        "context",
        "notes",
        "tries",
    )

    def __init__(  # noqa: PLR0913, PLR0917 - what an invoker brings; by position it is faster
        self,
        call: Call,
        call_spec: ToolCallSpec,
        implementation: Implementation,
        dispatcher: CallServices,
        limits: CallLimits,
        seconds: float,
        on_event: EventListener | None,
    ) -> None:
        """Keep the parts; the deadline is in `seconds`."""
        self._call = call
        self._call_spec = call_spec
        self._implementation = implementation
        self._dispatcher = dispatcher
        self._limits = limits
        self._seconds = seconds
        self._on_event = on_event
        self.context: CallContext | None = None
        self.tries: Tries | None = None
        """The tries of a tool that may have several."""
        self.notes: tuple[str, ...] = ()
        """Which items of a batch are missing from the result, or were done before it failed."""
        self.begun = False
        """Whether the implementation started; before it may wait for a thread or a resource."""

    @property
    def made(self) -> int:
        """How often the implementation started, batches not counted."""
        return 1 if self.tries is None else self.tries.made

    def once(self, arguments: Arguments) -> Coroutine[Any, Any, Any]:
        """Return the value of a tool that has neither batches nor further tries."""
        return start(self._implementation, arguments, self._context, self._begin)

    async def do(self, arguments: Arguments) -> Any:
        """Return the implementation's value. Raises what its last try raised."""
        self.tries = Tries(self._call_spec, self._limits.timing, self._seconds)
        batch = self._call_spec.limits.max_batch
        items = arguments.get(batch.parameter) if batch is not None else None
        if batch is None or not isinstance(items, list) or not items:
            return await self._tried(arguments)
        name, whole = batch.parameter, len(items)
        starts = 0

        async def run(first: int, piece: list[Any]) -> Any:
            nonlocal starts
            if starts:
                await self._next_start(name, first)
            if len(piece) < whole:
                await self._context().again(f"{first}+{len(piece)}")
            starts += 1
            try:
                return await self._tried({**arguments, name: piece})
            except BaseException as error:
                if first and not isinstance(error, MemoryError):
                    self.notes = (_done(name, first),)
                raise

        pieces = await in_pieces(items, batch.size, run)
        self.notes = skipped_note(name, pieces)
        return joined(pieces, of_arrays="array" in self._call_spec.returns.types)

    async def _tried(self, arguments: Arguments) -> Any:
        tries = self.tries
        assert tries is not None

        async def again() -> None:
            await self._limits.wait(tries.left)
            await self._context().again()

        return await tries.of(lambda: self.once(arguments), again)

    def _context(self) -> CallContext:
        """Return the context, built with the first use."""
        if self.context is None:
            self.context = CallContext(
                self._call, self._call_spec, self._dispatcher, self._seconds, self._on_event
            )
        return self.context

    def _begin(self) -> None:
        self.begun = True

    async def _next_start(self, name: str, first: int) -> None:
        assert self.tries is not None
        try:
            await self._limits.wait(self.tries.left)
        except CallDenied as denial:
            failure = denial.failure
            raise ToolError(f"{failure.message} {_done(name, first)}", code=failure.code) from None


def _done(name: str, first: int) -> str:
    return f"The first {first} items of {name} were done."
