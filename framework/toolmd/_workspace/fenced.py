"""Answer for the functions of a project in a fenced process: a line of JSON for each request.

`_remote/fence/functions.py` starts it. Its first line has the settings; each further one has a
tool, the hash of its Python, and the arguments.
"""

import asyncio
import json
import os
import pickle
import sys
import traceback
from typing import Any

from toolmd._call.invoke.context import CallContext, Resources
from toolmd._call.invoke.offline import is_late, line_fault, was_unsent
from toolmd._call.invoke.work import start
from toolmd._call.result.answer import no_json, write
from toolmd._call.result.parts import lifted
from toolmd._load.build import build
from toolmd._load.definitions.cache import Cache
from toolmd._types.call import Call
from toolmd._types.registry import BoundTool, Implementation
from toolmd._types.settings import Settings
from toolmd._workspace.snapshot.reader import READER
from toolmd.errors import ToolError


def main() -> None:
    """Answer until the other side closes the pipe."""
    # What a tool prints must not look like an answer, and it must not read the requests.
    requests = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), sys.stdin.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    functions: Functions | None = None
    for request in requests:
        try:
            if functions is None:
                # Its own kind of process sent it.
                functions = Functions(pickle.loads(bytes.fromhex(request.decode())))  # noqa: S301
                answer = b'{"ready":true}'
            else:
                answer = functions.answer(*json.loads(request))
        except Exception as error:  # noqa: BLE001 - the other side reports it
            answer = write({"error": [_kind(error), f"{type(error).__name__}: {error}",
                                      traceback.format_exc()]})  # fmt: skip
        answers.write(answer + b"\n")
        answers.flush()


class Functions:
    """The functions of a project's tools, as its files are now."""

    def __init__(self, settings: Settings) -> None:
        """Read the project."""
        cache = Cache.load(settings.state, READER.fingerprint)
        self._snapshot = build(settings, READER, cache=cache)

    def answer(self, name: str, digest: str, arguments: dict[str, Any]) -> bytes:
        """Return the answer to a request as JSON.

        Args:
            name: The tool.
            digest: The hash of the Python that the other side checked.
            arguments: Its arguments, which passed every check.
        """
        tool = self._snapshot.registry.tools.get(name)
        found = None if tool is None or tool.binding.load is None else tool.binding.load()
        if tool is None or found is None or found.hash != digest:
            return b'{"other":true}'
        try:
            value = asyncio.run(_run(tool, found, arguments, self._snapshot.resources))
        except ToolError as error:
            return write({"tool_error": [str(error), error.code]})
        if lifted(value) is not None:
            return write({"unfit": "it returned a file, which can't leave its fence"})
        try:
            return b'{"value":%b}' % write(value)
        except (ValueError, RecursionError) as error:
            return write({"unfit": str(no_json(error))})


async def _run(
    tool: BoundTool, found: Implementation, arguments: dict[str, Any], resources: Resources
) -> Any:
    context = CallContext(Call(tool.name, arguments), tool.call_spec, _Services(resources), 0, None)
    try:
        return await start(found, arguments, lambda: context)
    finally:
        await context.close()


def _kind(error: Exception) -> str:
    """Return the kind of an error by which a call may be made again."""
    if (fault := line_fault(error)) is None:
        return "RuntimeError"
    if was_unsent(fault):
        return "ConnectionRefusedError"
    return "TimeoutError" if is_late(fault) else "ConnectionError"


class _Services:
    """What a call in a fence has: the resources of plugins."""

    def __init__(self, resources: Resources) -> None:
        self.resources: Resources | None = resources

    def open_client(self, *_: Any) -> Any:
        raise ToolError("a tool in a fence has no Context")

    async def dispatch(self, *_: Any) -> Any:
        raise ToolError("a tool in a fence has no Context")


if __name__ == "__main__":
    main()
