"""Read the lines of markdown: lists, headings, fences, and the ends of paragraphs."""

from toolmd._dialect.decoder import skip

_MAX_LISTS = 16
_SPACE = " \t"
_BULLETS = "-*+"


def content_of(text: str, start: int) -> int:
    """Return the place after a line's white space and list markers."""
    at = start
    for _ in range(_MAX_LISTS):
        at = skip(text, at, _SPACE)
        behind = marker_end(text, at)
        if behind == at:
            break
        at = behind
    return at


def marker_end(text: str, at: int) -> int:
    """Return the place after a list marker and its space, or `at` without one."""
    end = at
    if text[at : at + 1] and text[at] in _BULLETS:
        end = at + 1
    else:
        while end - at <= 9 and text[end : end + 1] and text[end] in "0123456789":  # noqa: PLR2004
            end += 1
        if end == at or text[end : end + 1] not in {".", ")"}:
            return at
        end += 1
    return end + 1 if text[end : end + 1] in {" ", "\t"} else at


def leaves_open(line: str) -> bool | None:
    """Return whether the next line can continue a quoted paragraph; None if undecided.

    Quoted text leaves it open; the end of a paragraph, quoted or not, closes it.
    """
    at = content_of(line, 0)
    if line.startswith(">", at):
        words = line[at:].lstrip("> \t")
        return bool(words) and not words.startswith(("#", "```", "~~~"))
    return False if ends_paragraph(line) else None


def ends_paragraph(line: str) -> bool:
    """Return whether a line without a quote marker ends a quoted paragraph, as few do."""
    at = skip(line, 0, _SPACE)
    words = line[at:].rstrip(_SPACE)
    if not words or column_of(line, 0, at) > 3:  # noqa: PLR2004 - further in, it is text
        return not words
    sign, run = words[0], run_of(words, 0)
    if sign == "#":
        return run <= 6 and words[run : run + 1] in {"", " ", "\t"}  # noqa: PLR2004 - headings
    if sign in "`~":
        return run >= 3 and (sign == "~" or "`" not in words[run:])  # noqa: PLR2004 - a fence
    if sign in "-*_" and not words.strip(sign + _SPACE) and words.count(sign) >= 3:  # noqa: PLR2004
        return True
    behind = marker_end(words, 0)
    number = words[:behind].rstrip(".) \t")
    return sign == ">" or (0 < behind < len(words) and number.lstrip("0") in {*_BULLETS, "1"})


def begins_block(line: str) -> bool:
    """Return whether the line ends the paragraph before it."""
    at = skip(line, 0, _SPACE)
    if at == len(line) or line[at] in ">#|":
        return True
    sign = line[at]
    if sign in "-*+_=0123456789":
        return not line[at:].strip(sign + _SPACE) or marker_end(line, at) > at
    return line.startswith(("```", "~~~"), at)


def column_of(text: str, start: int, at: int) -> int:
    return len(text[start:at].expandtabs(4))


def run_of(text: str, start: int) -> int:
    return skip(text, start, text[start]) - start


def line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return end if end >= 0 else len(text)
