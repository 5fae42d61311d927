"""Those who hear of a call before it runs and after, and what rides on every outcome."""

from collections.abc import Callable

from toolmd._call.compiled import CompiledTool
from toolmd._call.guards.intent import says_any
from toolmd._types.call import Call
from toolmd._types.registry import BoundTool, Registry
from toolmd._types.result import Result
from toolmd.errors import logged


class Observers:
    """The listeners to one snapshot's calls; what fails in one is logged, and stops nothing."""

    def __init__(
        self,
        registry: Registry,
        before: Callable[[Call, BoundTool], None] | None,
        after: Callable[[Call, BoundTool, Result], None] | None,
        crisis_words: tuple[str, ...],
    ) -> None:
        """The flag of a crisis rides on every outcome of a message with one of these words."""
        self._registry = registry
        self._after = after
        self._crisis_words = crisis_words
        self.before = before
        self.has_observers = bool(after or crisis_words)
        """Whether there is anything to add or to tell once a call is over."""

    def tell_before(self, call: Call, tool: CompiledTool) -> None:
        """Tell that a call runs now."""
        if self.before is not None:
            try:
                self.before(call, tool.bound)
            except Exception as error:  # noqa: BLE001 - it only listens
                logged(error, "a listener to calls failed")

    def finish(self, call: Call, result: Result) -> Result:
        """Add to a result what rides on every outcome, and tell those who listen."""
        words = self._crisis_words
        try:
            crisis = bool(words) and says_any(call.caller.message, words)
        except Exception as error:  # noqa: BLE001 - words that can't be read may be of a crisis
            logged(error, "the user's message could not be looked through")
            crisis = True
        if crisis:
            result = result._replace(crisis=True)
        bound = self._registry.tools.get(call.tool)
        if self._after is not None and bound is not None:
            try:
                self._after(call, bound, result)
            except Exception as error:  # noqa: BLE001 - it only listens
                logged(error, "a listener to calls failed")
        return result
