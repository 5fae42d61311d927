"""Read only requests whose end is unambiguous to every program on the way; reject all others."""

import re

import h11

MAX_HEAD = 16 * 1024
"""The most bytes that the head of a request may have."""
_HEAD_END = re.compile(rb"\n\r?\n")
"""The place where h11 ends a head; the checks below then insist on CR LF."""
_LENGTH, _ENCODING = b"content-length", b"transfer-encoding"


class StrictConnection(h11.Connection):
    """A reader that rejects requests that a proxy in front of it might read differently.

    RFC 9112 lets a server repair such requests. A second request could then hide in the body of
    the first, so the connection ends instead.
    """

    def __init__(self) -> None:
        super().__init__(h11.SERVER, MAX_HEAD)
        self._latest = b""

    def receive_data(self, data: bytes) -> None:
        """Read incoming bytes; keep the last ones, which show how a message ended."""
        self._latest = self._latest[-3:] + data
        super().receive_data(data)

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """Return the next event; raise RemoteProtocolError if the framing is ambiguous."""
        unread = self.trailing_data[0] if self.their_state is h11.IDLE else b""
        event = super().next_event()
        if isinstance(event, h11.Request):
            self._chunked = any(name == _ENCODING for name, _ in event.headers)
            problem = ambiguity(unread)
        elif isinstance(event, h11.EndOfMessage) and self._chunked:
            problem = self._odd_end()
        else:
            return event
        if problem:
            raise h11.RemoteProtocolError(problem)
        return event

    def _odd_end(self) -> str:
        """Return what is wrong with the end of a chunked body."""
        rest = len(self.trailing_data[0])
        read = self._latest[:-rest] if rest else self._latest
        return "" if read.endswith(b"\r\n\r\n") else "A line ends without CR LF."


def ambiguity(data: bytes) -> str:
    """Return why the head at the start of `data` is ambiguous; "" if it isn't."""
    found = _HEAD_END.search(data)
    head = data[: found.end()] if found else data
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    if not head.endswith(b"\r\n\r\n") or any(b"\n" in one or b"\r" in one for one in lines):
        return "A line ends without CR LF."
    if any(one[:1] in {b" ", b"\t"} for one in lines):
        return "A header continues on a second line."
    names = [line.partition(b":")[0].lower() for line in lines]
    lengths, encodings = names.count(_LENGTH), names.count(_ENCODING)
    if lengths + encodings > 1:
        return "More than one header says how long the body is."
    if encodings and first.endswith(b"HTTP/1.0"):
        return "HTTP/1.0 has no Transfer-Encoding."
    return ""
