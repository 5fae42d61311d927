"""Find text that was saved with the wrong encoding, and suggest what was meant."""

from itertools import groupby

from toolmd._parse.source.page import Mark, Page, replace
from toolmd._types.code import Code

_ENCODINGS = ("mac_roman", "cp1252")
_MOST = 20


def report_mojibake(page: Page) -> None:
    """Warn about each line whose letters are UTF-8 bytes read in another encoding (seed 001)."""
    if all(map(str.isascii, page.lines)):
        return
    found = 0
    for number, line in enumerate(page.lines, 1):
        if line.isascii():
            continue
        for mark in _runs(line, number):
            meant = _meant(mark.text)
            if meant is None:
                continue
            found += 1
            page.warn(
                Code.MOJIBAKE,
                mark,
                f"'{mark.text}' looks like '{meant}' saved in the wrong encoding",
                f"write '{meant}', and save the file as UTF-8",
                replace(mark, meant),
            )
            if found == _MOST:
                return


def _runs(line: str, number: int) -> list[Mark]:
    marks, column = [], 1
    for ascii_, group in groupby(line, key=str.isascii):
        text = "".join(group)
        if not ascii_:
            marks.append(Mark(text, number, column))
        column += len(text)
    return marks


def _meant(text: str) -> str | None:
    """Decode letters that are UTF-8 bytes in another encoding; None for any other text."""
    if len(text) < 2:  # noqa: PLR2004 - UTF-8 needs two bytes for what is not ASCII
        return None
    for encoding in _ENCODINGS:
        try:
            meant = text.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
        if len(meant) < len(text):
            return meant
    return None
