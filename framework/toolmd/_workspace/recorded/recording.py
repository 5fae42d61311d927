"""Record what servers and services answer to the calls of one example."""

import os
from contextlib import closing
from pathlib import Path
from typing import Any

from toolmd._call.invoke.offline import line_fault
from toolmd._store.store import Store
from toolmd._types.result import Result
from toolmd._types.schema import Schema
from toolmd._types.settings import Settings
from toolmd._types.tool import Example, ToolSpec
from toolmd._workspace.recorded.answer_file import UpstreamAnswer
from toolmd._workspace.recorded.example_calls import ExampleCalls, UpstreamCall
from toolmd._workspace.recorded.pins import Pins, definition_digest, pins_of, put_pins
from toolmd._workspace.recorded.values import (
    NotWritableError,
    shown_arguments,
    shown_value,
)
from toolmd.config.servers import secret_values
from toolmd.config.services import variables_of
from toolmd.errors import ToolError

_SECRET = Schema(sensitive=True)
_FILE = "sqlite"
"""The store of the calls: a file in their state folder."""


class RecordingCalls(ExampleCalls):
    """Sends the calls of one example, and keeps the answers without Sensitive values."""

    def __init__(self, spec: ToolSpec, example: Example, settings: Settings, pins: Pins) -> None:
        """Keep the parts; `pins` are those of the project."""
        super().__init__(spec, example)
        self._settings = settings
        self._pins = pins
        self._secrets.learn_result(_credentials(settings), _SECRET)

    def begin(self, state: Path) -> str:
        """Copy the project's pins, so that a changed tool is denied here, too."""
        with closing(Store(_FILE, state)) as store:
            put_pins(store, self._pins)
        return _FILE

    async def answer(self, call: UpstreamCall) -> Any:
        """Return the value of a call, or raise its error."""
        self.used = True
        self._secrets.learn(call.arguments, call.call_spec.parameters)
        given = shown_arguments(call.arguments, call.call_spec.parameters, self._secrets)
        answer = UpstreamAnswer(self._example.title, call.target, call.upstream, "", given)
        key = f"{call.target} {given}"
        try:
            value = await call.send()
        except ToolError as error:
            if type(error) is not ToolError or line_fault(error) is not None:
                self._fail(key, call, str(error))
                raise
            failed = {"code": error.code, "message": str(error)}
            self._keep(key, answer._replace(error=failed))
            raise
        except BaseException as error:
            self._fail(key, call, str(error) or type(error).__name__)
            raise
        returns = call.call_spec.returns
        self._secrets.learn_result(value, returns)
        try:
            self._keep(key, answer._replace(result=shown_value(value, returns, self._secrets)))
        except NotWritableError as error:
            self._fail(key, call, str(error))
        return value

    def end(self, result: Result, state: Path) -> None:
        """Hide what turned out Sensitive meanwhile, and note the accepted definitions."""
        self._secrets.learn_result(result.data, self._spec.returns)
        with closing(Store(_FILE, state)) as store:
            pins = pins_of(self._settings, store)
        self.answers = [
            one._replace(
                definition=definition_digest(one.calls, self._settings, pins),
                arguments=self._secrets.hide_in(one.arguments),
                result=self._secrets.hide_in(one.result),
                error=self._secrets.hide_in(one.error),
            )
            for one in self.answers
        ]

    def _keep(self, key: str, answer: UpstreamAnswer) -> None:
        # An answer that came with a further try is the answer.
        self.problems.pop(key, None)
        self.answers.append(answer)

    def _fail(self, key: str, call: UpstreamCall, why: str) -> None:
        said = self._secrets.hide(why)
        self.problems[key] = f"the answer of {call.target} can't be recorded: {said}"


def _credentials(settings: Settings) -> list[str]:
    """Return the values of the variables that the tables of servers and services name."""
    found = [one for table in settings.servers.values() for one in secret_values(table, os.environ)]
    named = [name for table in settings.services.values() for name in variables_of(table)]
    return [*found, *(value for name in named if (value := os.environ.get(name)))]
