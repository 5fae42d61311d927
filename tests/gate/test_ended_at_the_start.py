"""A server that is told to end before it serves ends without a trace."""

import asyncio
import socket
from typing import Any

import pytest

from toolmd._gate.server import serve
from toolmd._model.settings import ServeSettings


def test_a_ctrl_c_before_the_server_serves_is_no_crash(capfd: pytest.CaptureFixture[str]) -> None:
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
