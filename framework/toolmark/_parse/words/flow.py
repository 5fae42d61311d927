"""Text that wraps softly over lines, as one line, and without comments."""


def flow(text: str) -> str:
    """Give soft-wrapped text on one line, without HTML comments."""
    text = without_comments(text)
    if "\n" not in text:
        return text.strip()
    return " ".join(line.strip().removesuffix("\\") for line in text.split("\n")).strip()


def without_comments(text: str) -> str:
    """Drop `<!-- … -->`; in a code span, and where it is never closed, it is text."""
    at = 0
    while (start := text.find("<!--", at)) >= 0:
        end = text.find("-->", start)
        if end < 0:
            break
        if text.count("`", 0, start) % 2 and "`" in text[end:]:
            at = end
        else:
            text, at = text[:start] + text[end + 3 :], start
    return text
