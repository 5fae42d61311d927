"""The events that a connection may wait for."""

from enum import Enum


class Phase(Enum):
    """The event that a connection waits for."""

    HEAD = "the head of a request"
    IDLE = "the first byte of the next request"
    BODY = "the body of a request"
    ANSWER = "the answer of the app"
    STALLED = "its client to read"
    CLOSING = "its last bytes to leave"


WAITING = frozenset((Phase.HEAD, Phase.IDLE, Phase.BODY))
