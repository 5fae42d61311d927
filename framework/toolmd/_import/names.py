"""Convert foreign names to names that a definition may have."""

import re
from collections.abc import Iterator, Sequence

_LONGEST = 64
_TOOL = re.compile(r"[a-z][a-z0-9_]{0,63}")
_PARAMETER = re.compile(r"\$?[A-Za-z_][A-Za-z0-9_-]{0,62}")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

RESULTS = (
    *("outputSchema", "output_schema", "response", "responseJsonSchema"),
    *("response_json_schema", "returns", "return_schema"),
)
"""The keys under which functions have the schema of their result."""


def tool_name(text: str) -> str:
    """Return the name of a tool that is nearest to a text: `Get-Labs` becomes `get_labs`.

    Args:
        text: A name in any form.

    Returns:
        The name in snake case, at most 64 characters; empty for a text without letters.
    """
    folded = text.strip().replace("-", "_")
    if _TOOL.fullmatch(folded):
        return folded
    return "_".join(words_of(text))[:_LONGEST].strip("_")


def words_of(text: str) -> list[str]:
    """Return the words of a name: of snake, kebab and camel case.

    Args:
        text: The name.

    Returns:
        The words in lower case. Digits stay with the word before them; leading ones are dropped,
        since a name begins with a letter.
    """
    found: list[str] = []
    for piece in re.split(r"[^A-Za-z0-9]+", text):
        for match in _WORDS.finditer(piece):
            word = match[0].lower()
            if word.isdigit() and found and match.start():
                found[-1] += word
            elif found or not word.isdigit():
                found.append(word)
    return found


def parameter_name(text: str) -> str:
    """Return a valid parameter name unchanged, else the nearest one.

    Args:
        text: A name in any form.

    Returns:
        The name, at most 64 characters; empty for a text without letters.
    """
    return text if _PARAMETER.fullmatch(text) else "_".join(words_of(text))[:_LONGEST].strip("_")


def title_of(name: str) -> str:
    """Return the title for a name: `get_labs` becomes `Get Labs`.

    Args:
        name: The name of a tool or a skill.

    Returns:
        Its words, each with a capital, on one line.
    """
    return " ".join(word[:1].upper() + word[1:] for word in re.split(r"[_\-]+", name) if word)


def distinct(names: Sequence[str]) -> Iterator[str]:
    """Yield each name; one that was there before gets a number behind it."""
    taken = set(names)
    seen: set[str] = set()
    for name in names:
        own, number = name, 1
        while own in seen or (number > 1 and own in taken):
            number += 1
            own = f"{name[: _LONGEST - len(str(number)) - 1]}_{number}"
        seen.add(own)
        yield own
