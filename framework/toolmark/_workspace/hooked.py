"""Bring what plugins say of calls to the door: their judges, and those who only listen."""

from collections.abc import Callable, Sequence
from typing import Any

from toolmark._bind.manager import Plugins
from toolmark._model.call import Call
from toolmark._model.result import Result
from toolmark._model.tool import ToolSpec
from toolmark.hooks import Judge


def judges_of(plugins: Plugins) -> Callable[[ToolSpec], Sequence[Judge]]:
    """Give what asks each plugin for its judges of one tool; raises what a plugin raised."""

    def judges(spec: ToolSpec) -> Sequence[Judge]:
        found: list[Judge] = []
        for answer in plugins.ask("toolmark_judges", spec=spec):
            if answer.error is not None:
                raise answer.error
            found.extend(answer.value or ())
        return found

    return judges


def listeners_of(
    plugins: Plugins,
) -> tuple[
    Callable[[Call, ToolSpec], None] | None, Callable[[Call, ToolSpec, Result], None] | None
]:
    """Give what tells of a call before and after it; None where no plugin listens."""

    def before(call: Call, spec: ToolSpec) -> None:
        _tell(plugins, "toolmark_before_call", call=call, spec=spec)

    def after(call: Call, spec: ToolSpec, result: Result) -> None:
        _tell(plugins, "toolmark_after_call", call=call, spec=spec, result=result)

    return (
        before if plugins.implements("toolmark_before_call") else None,
        after if plugins.implements("toolmark_after_call") else None,
    )


def _tell(plugins: Plugins, hook: str, **said: Any) -> None:
    for _ in plugins.ask(hook, **said):
        pass
