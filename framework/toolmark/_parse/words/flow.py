"""Text that wraps softly over lines, as one line, and without comments."""


def flow(text: str) -> str:
    """Give soft-wrapped text on one line, without HTML comments."""
    text = without_comments(text)
    if "\n" not in text:
        return text.strip()
    return " ".join(line.strip().removesuffix("\\") for line in text.split("\n")).strip()


def without_comments(text: str) -> str:
    """Drop `<!-- … -->`."""
    while (start := text.find("<!--")) >= 0:
        end = text.find("-->", start)
        text = text[:start] + (text[end + 3 :] if end >= 0 else "")
    return text
