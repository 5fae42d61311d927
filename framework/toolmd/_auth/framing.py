"""Accept only requests whose end is unambiguous to every program on the way; reject all others.

RFC 9112 lets a server repair such requests. A second request could then hide in the body of the
first, so the connection ends instead.
"""

import re
from typing import NamedTuple

MAX_HEAD = 16 * 1024
"""The most bytes that the head of a request may have."""
HEAD_END = re.compile(rb"\n\r?\n")
"""The place where a lenient reader ends a head; the checks below then insist on CR LF."""
_END = b"\r\n\r\n"
"""The end of a head: its last line, then an empty one."""
_LENGTH, _ENCODING = b"content-length", b"transfer-encoding"
_BODY = re.compile(b"\r\n(%b|%b):([^\r]*)" % (_LENGTH, _ENCODING), re.IGNORECASE)
_DIGITS = re.compile(rb"[0-9]{1,15}")
_VERSIONS = (b" HTTP/1.1", b" HTTP/1.0")


class Framing(NamedTuple):
    """What a head says about the body after it."""

    problem: str = ""
    """Why the head is ambiguous; "" if it isn't."""
    length: int | None = 0
    """The bytes of the body; None if it comes in chunks."""


_NONE = Framing()


def framing(head: bytes) -> Framing:
    """Return the framing of a whole head, its last empty line included."""
    lines = head.count(b"\r\n")
    if not head.endswith(_END) or not lines == head.count(b"\n") == head.count(b"\r"):
        return Framing("A line ends without CR LF.")
    first = head[: head.index(b"\r\n")]
    if not first.endswith(_VERSIONS):
        return Framing("The first line is not that of a request in HTTP/1.1 or HTTP/1.0.")
    if b"\r\n " in head or b"\r\n\t" in head:
        return Framing("A header continues on a second line.")
    found = _BODY.findall(head)
    if not found:
        return _NONE
    if len(found) > 1:
        return Framing("More than one header says how long the body is.")
    name, value = found[0]
    return _one(name.lower(), value.strip(b" \t"), first)


def _one(name: bytes, value: bytes, first: bytes) -> Framing:
    if name == _LENGTH:
        if not _DIGITS.fullmatch(value):
            return Framing("Content-Length is not a number.")
        return Framing(length=int(value))
    if first.endswith(b"HTTP/1.0"):
        return Framing("HTTP/1.0 has no Transfer-Encoding.")
    if value.lower() != b"chunked":
        return Framing("Transfer-Encoding is not chunked.")
    return Framing(length=None)
