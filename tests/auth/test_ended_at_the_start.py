"""A server that gets a signal before it serves ends without a traceback."""

import asyncio
import signal
import socket
from typing import Any

import pytest

from toolmd._auth.server import serve
from toolmd._types.settings import ServeSettings


def test_a_ctrl_c_before_serving_is_not_a_crash(capfd: pytest.CaptureFixture[str]) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError("nothing is asked of it")

    async def told_to_end() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        with socket.create_server(("127.0.0.1", 0)) as listening:
            await serve(app, listening, settings=ServeSettings())

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(told_to_end())
    assert capfd.readouterr().err == ""


def test_a_ctrl_c_while_the_server_begins_ends_it_without_a_trace(
    capfd: pytest.CaptureFixture[str],
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert scope["type"] == "lifespan"
        await receive()
        signal.raise_signal(signal.SIGINT)
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})

    with socket.create_server(("127.0.0.1", 0)) as listening:
        asyncio.run(serve(app, listening, settings=ServeSettings()))
        assert listening.fileno() == -1
    assert capfd.readouterr().err == ""
