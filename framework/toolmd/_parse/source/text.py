"""Decode a definition's bytes: UTF-8 only, up to a maximum size."""

from toolmd._parse.source.page import Mark, Page
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic

MAX_BYTES = 64 * 1024


def decode(data: bytes, path: str) -> tuple[str | None, tuple[Diagnostic, ...]]:
    """Decode the bytes of a definition.

    Returns:
        The text, or None and the diagnostic if the file is too large or not UTF-8.
    """
    page = Page(path, [])
    if len(data) > MAX_BYTES:
        page.error(
            Code.FILE_TOO_LARGE,
            Mark("", 1, 1),
            f"the file has {len(data):,} bytes; at most {MAX_BYTES:,} are read",
            "split it, or move its prose elsewhere",
        )
        return None, tuple(page.diagnostics)
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        page.error(
            Code.NOT_UTF8,
            Mark("", line, column),
            f"the file is not UTF-8: byte {data[error.start]:#04x} at offset {error.start}",
            "save it as UTF-8",
        )
        return None, tuple(page.diagnostics)
