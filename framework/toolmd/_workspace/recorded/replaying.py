"""Answer the calls of one example with what was recorded; nothing is sent."""

from collections.abc import Sequence
from typing import Any

from toolmd._types.settings import Settings
from toolmd._types.tool import Example, ToolSpec
from toolmd._workspace.recorded.answer_file import UpstreamAnswer
from toolmd._workspace.recorded.example_calls import ExampleCalls, UpstreamCall
from toolmd._workspace.recorded.pins import Pins, definition_digest
from toolmd._workspace.recorded.values import UNKNOWN, restored, same, shown_arguments
from toolmd.errors import ToolError

NOT_RECORDED = "not_recorded"
"""The code of a call that no recorded answer fits."""


class ReplayingCalls(ExampleCalls):
    """Answers the calls of one example with recorded answers."""

    def __init__(
        self, spec: ToolSpec, example: Example, settings: Settings, pins: Pins,
        recorded: Sequence[UpstreamAnswer],
    ) -> None:  # fmt: skip
        """Keep the parts; `pins` are those that the project's own store has."""
        super().__init__(spec, example)
        self._settings = settings
        self._pins = pins
        self._left = [one for one in recorded if one.example == example.title]

    async def answer(self, call: UpstreamCall) -> Any:
        """Return the recorded value of a call, or raise its error."""
        self.used = True
        self._secrets.learn(call.arguments, call.call_spec.parameters)
        given = shown_arguments(call.arguments, call.call_spec.parameters, self._secrets)
        same_tool = [one for one in self._left if one.calls == call.target]
        fitting = [one for one in same_tool if same(one.arguments, given)]
        if problem := self._problem(call, same_tool, fitting):
            message = f"{problem}: run `toolmd test --record {self._spec.name}` where it runs"
            self.problems[call.target] = message
            raise ToolError(message, code=NOT_RECORDED)
        found = fitting[0]
        self._left.remove(found)
        if found.error is not None:
            raise ToolError(found.error["message"], code=found.error["code"])
        is_own = call.call_spec.name == self._spec.name and self._example.has_result
        expected = self._example.result if is_own else UNKNOWN
        return restored(found.result, expected, self._secrets)

    def _problem(
        self, call: UpstreamCall, same_tool: list[UpstreamAnswer], fitting: list[UpstreamAnswer]
    ) -> str:
        if not same_tool:
            return f"no answer of {call.target} is recorded for this example"
        if not fitting:
            return f"the arguments of {call.target} are not those of the recorded call"
        if fitting[0].upstream != call.upstream:
            return f"the settings or the places of the arguments of {call.target} changed"
        now = definition_digest(call.target, self._settings, self._pins)
        if now and now != fitting[0].definition:
            return f"another definition of {call.target} was accepted since its answer was recorded"
        return ""
