"""Check and repair names: parameters as written, definitions in snake case."""

import unicodedata

from toolmd._parse.source.page import Mark, Page, replace
from toolmd._parse.words.keys import plain
from toolmd._types.code import Code

UNNAMED = "unnamed"
"""The name of a definition whose own name can't be repaired."""
_LONGEST = 64


def parameter_name(page: Page, mark: Mark) -> str:
    """Return a parameter's name; repair words with spaces, and report other signs as errors."""
    name = plain(mark.text)
    bare = name.replace("-", "_").removeprefix("$")
    if bare.isidentifier() and bare.isascii() and len(name) <= _LONGEST and not bare[0].isdigit():
        return name
    read_as = "_".join(
        "".join(c if c.isalnum() and c.isascii() else " " for c in name).lower().split()
    )[:_LONGEST]
    if " " in name and read_as.isidentifier():
        page.warn(
            Code.INVALID_NAME,
            mark,
            f"'{name}' is not a valid parameter name; it was read as '{read_as}'",
            f"write '{read_as}'",
            replace(mark, read_as),
        )
        return read_as
    page.error(
        Code.INVALID_NAME,
        mark,
        f"'{name}' is not a valid parameter name",
        f"write it below `- **Properties**:` of `{name.replace('[', '.').partition('.')[0]}`"
        if "." in name or "[]" in name
        else "use letters, digits and _, at most 64, starting with a letter",
    )
    return name


def definition_name(page: Page, mark: Mark, name: str) -> str:
    """Return a tool's or a skill's name; convert kebab case, and repair other forms."""
    folded = name.replace("-", "_")
    if is_name(folded):
        return folded
    read_as = mended_name(name)
    words = name.replace(" ", "").replace("-", "").replace("_", "")
    if read_as != UNNAMED and words.isalnum() and len(name) <= _LONGEST:
        page.warn(
            Code.INVALID_NAME,
            mark,
            f"'{name}' is not a valid name; it was read as '{read_as}'",
            f"write '{read_as}'",
            replace(mark, read_as),
        )
        return read_as
    page.error(
        Code.INVALID_NAME,
        mark,
        f"'{name}' is not a valid name",
        "use small letters, digits and _, at most 64, starting with a letter",
    )
    return UNNAMED


def is_name(name: str) -> bool:
    """Return whether a text is a valid tool or skill name: `[a-z][a-z0-9_]{0,63}`."""
    return (
        0 < len(name) <= _LONGEST
        and name.isascii()
        and name.replace("_", "").isalnum()
        and name[0].isalpha()
        and name == name.lower()
    )


def mended_name(text: str) -> str:
    """Convert words, kebab or camel case into a snake-case name."""
    out = ""
    text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    for at, char in enumerate(text):
        if char.isupper() and at and (text[at - 1].islower() or text[at - 1].isdigit()):
            out += "_"
        out += char.lower() if char.isalnum() and char.isascii() else "_"
    name = "_".join(part for part in out.split("_") if part)[:_LONGEST]
    return name if is_name(name) else UNNAMED
