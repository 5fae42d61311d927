"""The calls of one example that go to servers and services, as its workspace makes them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from toolmd._store import MEMORY
from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.operation import read_operation
from toolmd._types.registry import BoundTool, Implementation
from toolmd._types.remote_tool import read_remote_tool
from toolmd._types.result import Result
from toolmd._types.tool import Example, ToolSpec
from toolmd._validation.redact import Secrets
from toolmd._workspace.recorded.answer_file import UpstreamAnswer
from toolmd._workspace.workspace import Workspace


class UpstreamCall(NamedTuple):
    """One call that goes to a server or a service."""

    target: str
    """What is called, as Implemented By names it."""
    call_spec: ToolCallSpec
    upstream: str
    """The digest of what it reaches."""
    arguments: dict[str, Any]
    send: Callable[[], Coroutine[Any, Any, Any]]
    """Sends it."""


class ExampleCalls(ABC):
    """Answers the calls of one example, and keeps what there is to say of them."""

    def __init__(self, spec: ToolSpec, example: Example) -> None:
        """Learn the Sensitive values of the example."""
        self.used = False
        """Whether a server or a service was called."""
        self.problems: dict[str, str] = {}
        """Why the example fails, whatever its result is, by the call."""
        self.answers: list[UpstreamAnswer] = []
        """What is to be recorded."""
        self._spec = spec
        self._example = example
        self._secrets = Secrets()
        self._secrets.learn(example.arguments, spec.parameters)
        self._secrets.learn_result(example.result, spec.returns)

    @abstractmethod
    async def answer(self, call: UpstreamCall) -> Any:
        """Return the value of a call, or raise its error."""

    def begin(self, state: Path) -> str:
        """Prepare the state folder of the calls, and return the setting of their store."""
        del state
        return MEMORY

    def end(self, result: Result, state: Path) -> None:
        """Finish with the result of the example, after its workspace was closed."""
        del result, state


def intercept(workspace: Workspace, calls: ExampleCalls) -> None:
    """Pass each call of a workspace to a server or a service to `calls`."""
    for bound in workspace.registry.tools.values():
        named = bound.spec.implemented_by or ""
        if read_remote_tool(named) is not None or read_operation(named) is not None:
            binding = bound.binding
            assert binding.load is not None
            bound.bind(binding._replace(load=partial(_between, bound, binding.load, calls)))


class _Encoded(NamedTuple):
    """An argument as the call has it, and as it is sent."""

    given: Any
    sent: Any


class _Encoding:
    """Encodes an argument, and keeps it as the call has it, too."""

    def __init__(self, encode: Callable[[Any], Any]) -> None:
        self._encode = encode
        self.wanted = getattr(encode, "wanted", "")

    def __call__(self, value: Any) -> _Encoded:
        return _Encoded(value, self._encode(value))


def _between(
    bound: BoundTool, load: Callable[[], Implementation], calls: ExampleCalls
) -> Implementation:
    found = load()

    async def function(**keywords: Any) -> Any:
        sent = {
            name: value.sent if isinstance(value, _Encoded) else value
            for name, value in keywords.items()
        }
        given = {
            name: value.given if isinstance(value, _Encoded) else value
            for name, value in keywords.items()
            if name != found.context
        }
        send = partial(found.function, **sent)
        return await calls.answer(
            UpstreamCall(found.target, bound.call_spec, found.hash, given, send)
        )

    converters = {name: _Encoding(convert) for name, convert in found.converters.items()}
    return found._replace(function=function, converters=converters)
