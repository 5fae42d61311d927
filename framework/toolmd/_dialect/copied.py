"""Copy a host's objects to plain JSON values, and count their size."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from toolmd._dialect.decoder import MAX_BYTES
from toolmd.errors import MalformedReplyError

_MAX_DEPTH = 48
"""Deepest nesting of a provider's answer: 32 levels of arguments, and the levels around them."""


class PlainCopy:
    """Copies a host's objects to plain JSON values, and counts their size."""

    def __init__(self, *, lenient: bool = False) -> None:
        """`lenient` copies a larger reply too, without the values that JSON can't hold."""
        self._lenient = lenient
        self._left = MAX_BYTES * (16 if lenient else 1)
        self._within = 0
        """How many of a provider's objects enclose the current value."""
        self.is_halved = False
        """Whether a text contains an unpaired surrogate."""

    def of(self, value: Any, depth: int) -> Any:
        """Return the copy of a value at this depth; MalformedReplyError if it can't be JSON."""
        if isinstance(value, str):
            return self._text(value)
        self._spend(2)
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float) and value - value == 0:
            return value
        if depth == _MAX_DEPTH:
            return self._refuse("the reply nests too deep")
        if isinstance(value, Mapping):
            return {self._key(k): self.of(v, depth + 1) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self.of(item, depth + 1) for item in value]
        if callable(dump := getattr(value, "model_dump", None)):
            self._within += 1
            copy = self.of(_dumped(dump), depth + 1)
            self._within -= 1
            return copy
        if self._within and isinstance(value, bytes | date):
            return None  # a signature, a picture, a time: neither text nor a call
        return self._refuse(f"{type(value).__name__} can't be part of a reply")

    def _refuse(self, why: str) -> None:
        if not self._lenient:
            raise MalformedReplyError(why)

    def _key(self, key: Any) -> str:
        if not isinstance(key, str):
            raise MalformedReplyError("keys of a reply must be text")
        return self._text(key)

    def _text(self, text: str) -> str:
        try:
            size = len(text.encode())
        except UnicodeEncodeError:
            self.is_halved = True
            size = len(text.encode(errors="surrogatepass"))
        self._spend(size)
        return text

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise MalformedReplyError(f"the reply is larger than {MAX_BYTES // 1024} KiB")


def _dumped(dump: Any) -> Any:
    try:
        return dump()
    except Exception as error:
        # An error of a foreign object: the reply can't be read, whatever the exception.
        raise MalformedReplyError(f"the reply's model_dump failed: {error}") from error
