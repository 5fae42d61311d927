"""Call the hooks before and after a call, and add flag and metric to each outcome."""

from collections.abc import Callable

from toolmd._call.compiled import CompiledTool
from toolmd._call.invoke.metrics import Metrics
from toolmd._types.call import Call
from toolmd._types.registry import BoundTool, Registry
from toolmd._types.result import Result
from toolmd.errors import logged


class Observers:
    """The hooks of one snapshot's calls; an exception in one is logged and stops nothing."""

    def __init__(
        self,
        registry: Registry,
        before: Callable[[Call, BoundTool], None] | None,
        after: Callable[[Call, BoundTool, Result], None] | None,
        metrics: Metrics | None = None,
    ) -> None:
        """Keep the hooks, and the metrics where a provider is installed."""
        self._metrics = metrics
        self._registry = registry
        self._after = after
        self.before = before
        self.has_observers = bool(after or metrics)
        """Whether a finished call has hooks to run or a metric."""

    def call_before_hook(self, call: Call, tool: CompiledTool) -> None:
        """Call the before-hook: the call runs now."""
        if self.before is not None:
            try:
                self.before(call, tool.bound)
            except Exception as error:  # noqa: BLE001 - an observer stops no call
                logged(error, "a listener to calls failed")

    def finish(self, call: Call, result: Result) -> Result:
        """Add the crisis flag to a result, count it, and call the after-hook."""
        if call.caller.crisis:
            result = result._replace(crisis=True)
        bound = self._registry.tools.get(call.tool)
        if self._metrics is not None:
            known = bound is not None or call.tool in self._registry.skills
            self._metrics.end(call, result, known=known)
        if self._after is not None and bound is not None:
            try:
                self._after(call, bound, result)
            except Exception as error:  # noqa: BLE001 - an observer stops no call
                logged(error, "a listener to calls failed")
        return result
