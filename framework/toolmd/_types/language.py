"""How a language negates, asks and joins clauses: the rules by which messages are assessed."""

import re
import tomllib
from collections.abc import Sequence
from typing import NamedTuple

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
NEVER = re.compile(r"(?!)")
"""Matches nothing."""


class Language(NamedTuple):
    """The rules of one language, as a TOML file lists them: case-folded regular expressions."""

    common: frozenset[str]
    """Frequent words by which the language is recognized."""
    negators: re.Pattern[str]
    """Words that negate what follows in their clause.

    Those of all languages count in every message, since they can only stop a call.
    """
    after: re.Pattern[str]
    """Words that negate what precedes them in their clause."""
    doubtful_after: re.Pattern[str]
    """Words that may negate what precedes them in their clause."""
    idioms: re.Pattern[str]
    """Phrases with a negating word that negate nothing."""
    breaks: re.Pattern[str]
    """Words that begin a clause of their own."""
    inherits: re.Pattern[str]
    """Words at the beginning of a clause that carry on the negation of the clause before."""
    doubtful_inherits: re.Pattern[str]
    """Words at the beginning of a clause that may carry it on."""
    asks: re.Pattern[str]
    """What makes its clause a question, a condition or a guess."""
    reports: re.Pattern[str]
    """What makes the rest of its clause the words of somebody else."""
    withdraws: re.Pattern[str]
    """Phrases that may take back what was said before them."""
    questions: re.Pattern[str]
    """Words that make a sentence a question where it begins with them."""
    question_marks: re.Pattern[str]
    """Words that make a sentence a question as a question mark does."""
    carried: re.Pattern[str]
    """Words anywhere in a clause by which it depends on the clause before, as `inherits`."""
    requests: re.Pattern[str]
    """What makes a question a request."""
    letters: frozenset[str]
    """Letters and marks that the other languages rarely have."""


def has_cjk(text: str) -> bool:
    """Return whether a text has letters of a script that puts no spaces between words."""
    return _CJK.search(text) is not None


def read_language(text: str) -> Language:
    """Read the rules of a language.

    Args:
        text: TOML with a list of texts for each field of `Language`; `letters` may be one text.
            `common`, `negators` and `letters` are required.

    Raises:
        ValueError: The text is not TOML, a key is missing or unknown, a value is not a list of
            texts, or one is not a regular expression.
    """
    lists = tomllib.loads(text)
    if lacking := {"common", "negators", "letters"} - {*lists}:
        message = f"it lacks {', '.join(sorted(lacking))}"
        raise ValueError(message)
    if unknown := {*lists} - {*Language._fields}:
        message = f"it has unknown keys: {', '.join(sorted(unknown))}"
        raise ValueError(message)
    for key, words in lists.items():
        listed = isinstance(words, list) or (key == "letters" and isinstance(words, str))
        if not listed or not all(isinstance(word, str) and word for word in words):
            message = f"{key} is not a list of texts"
            raise ValueError(message)
    try:
        patterns = {key: _compiled(lists.get(key, ())) for key in Language._fields[1:-1]}
    except re.error as error:
        message = f"a regular expression can't be read: {error}"
        raise ValueError(message) from None
    return Language(frozenset(lists["common"]), **patterns, letters=frozenset(lists["letters"]))


def _compiled(words: Sequence[str]) -> re.Pattern[str]:
    """Match one of the words, whole where their script has spaces between words."""
    if not words:
        return NEVER
    found = "|".join(words)
    return re.compile(f"(?:{found})" if has_cjk(found) else rf"(?<!\w)(?:{found})(?!\w)")
