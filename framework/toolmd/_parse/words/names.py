"""What may be called by a name: parameters as written, definitions in snake case."""

import unicodedata

from toolmd._parse.source.page import Mark, Page, replace
from toolmd._parse.words.keys import plain
from toolmd._types.code import Code

UNNAMED = "unnamed"
"""What is called so far by no name that can be called."""
_LONGEST = 64


def parameter_name(page: Page, mark: Mark) -> str:
    """Give a parameter's name; words with spaces are repaired, other signs refused."""
    name = plain(mark.text)
    bare = name.replace("-", "_").removeprefix("$")
    if bare.isidentifier() and bare.isascii() and len(name) <= _LONGEST and not bare[0].isdigit():
        return name
    mended = "_".join(
        "".join(c if c.isalnum() and c.isascii() else " " for c in name).lower().split()
    )[:_LONGEST]
    if " " in name and mended.isidentifier():
        page.warn(
            Code.INVALID_NAME,
            mark,
            f"'{name}' is no name for a parameter; read as '{mended}'",
            f"write '{mended}'",
            replace(mark, mended),
        )
        return mended
    page.error(
        Code.INVALID_NAME,
        mark,
        f"'{name}' is no name for a parameter",
        "use letters, digits and _, at most 64, a letter first",
    )
    return name


def definition_name(page: Page, mark: Mark, name: str) -> str:
    """Give the name by which a tool or a skill is called; kebab folds, camel case is repaired."""
    folded = name.replace("-", "_")
    if is_name(folded):
        return folded
    mended = mended_name(name)
    words = name.replace(" ", "").replace("-", "").replace("_", "")
    if mended != UNNAMED and words.isalnum() and len(name) <= _LONGEST:
        page.warn(
            Code.INVALID_NAME,
            mark,
            f"'{name}' is no name to call; read as '{mended}'",
            f"write '{mended}'",
            replace(mark, mended),
        )
        return mended
    page.error(
        Code.INVALID_NAME,
        mark,
        f"'{name}' is no name to call",
        "use small letters, digits and _, at most 64, a letter first",
    )
    return UNNAMED


def is_name(name: str) -> bool:
    """Whether a tool or a skill may be called so: `[a-z][a-z0-9_]{0,63}`."""
    return (
        0 < len(name) <= _LONGEST
        and name.isascii()
        and name.replace("_", "").isalnum()
        and name[0].isalpha()
        and name == name.lower()
    )


def mended_name(text: str) -> str:
    """Give the snake-case name that words, kebab or camel case stand for."""
    out = ""
    text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    for at, char in enumerate(text):
        if char.isupper() and at and (text[at - 1].islower() or text[at - 1].isdigit()):
            out += "_"
        out += char.lower() if char.isalnum() and char.isascii() else "_"
    name = "_".join(part for part in out.split("_") if part)[:_LONGEST]
    return name if is_name(name) else UNNAMED
