"""The pieces of streamed calls, as providers number and repeat them."""

from types import SimpleNamespace as Piece
from typing import Any

import pytest

from toolmd._chat.endpoint import Pieces


def piece(index: Any, own: Any, name: Any, arguments: Any) -> Any:
    function = Piece(name=name, arguments=arguments)
    call = Piece(index=index, id=own, function=function)
    delta = Piece(content=None, tool_calls=[call])
    return Piece(usage=None, choices=[Piece(finish_reason=None, delta=delta)])


@pytest.mark.parametrize(
    "pieces",
    [
        [(0, "a", "find", '{"q":'), (0, None, None, " 1}"), (1, "b", "ping", "{}")],
        [(0, "a", "find", '{"q": 1}'), (0, "b", "ping", "{}")],
        [(None, "a", "find", '{"q":'), (None, None, None, " 1}"), (None, "b", "ping", "{}")],
        [(0, "a", "find", '{"q":'), (0, "a", "find", " 1}"), (1, "b", "ping", "{}")],
        [(0, "a", "fi", '{"q":'), (0, "", "nd", " 1}"), (1, "b", "ping", "{}")],
        [(1, "b", "ping", "{}"), (0, "a", "find", '{"q": 1}')],
        [(0, "a", "find", '{"q":'), (0, "b", "ping", "{}"), (0, "a", None, " 1}")],
    ],
)
def test_a_new_id_is_a_new_call_whatever_its_index(pieces: Any) -> None:
    reply = Pieces(lambda _: None)
    for one in pieces:
        reply.add(piece(*one))

    assert [
        (call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in reply.message()["tool_calls"]
    ] == [("a", "find", '{"q": 1}'), ("b", "ping", "{}")]
