"""Read Intent Keywords: words, each of which may be of a language, as in `de: erinnere`."""

import re
from collections.abc import Iterator

from toolmd._parse.fields.entries import Entry, Unread
from toolmd._parse.source.page import Page
from toolmd._parse.words import scalars
from toolmd._parse.words.keys import says_none, value_text
from toolmd._types.field import Row
from toolmd._types.intent import keyword_of, language_and_word

_LANGUAGE = re.compile(
    r"(?:^|[,;])\s*[*_`]*([A-Za-z]{2,3}|[A-Z][a-z]{3,9})[*_`]*\s*:[*_`]*(?:\s|$)"
)
_NAMES = {
    "english": "en",
    "german": "de",
    "spanish": "es",
    "french": "fr",
    "chinese": "zh",
    "italian": "it",
    "portuguese": "pt",
    "dutch": "nl",
}


def read_keywords(page: Page, known: Row, entry: Entry) -> tuple[str, ...]:
    """Read the keywords of a line and of the bullets below it, those without a language first.

    A language holds for the words behind it, up to the next language or semicolon.
    """
    del page, known
    if entry.listed is not None:
        texts = [mark.text for mark in entry.listed]
    else:
        texts = [entry.text, *(item.mark.text for item in entry.items)]
        if any(item.blocks for item in entry.items) or (entry.blocks and not entry.items):
            raise Unread("write the words on one line, or as a nested bullet for each language")
    words = [word for text in texts for word in _words(text)]
    if not words or (len(words) == 1 and says_none(words[0])):
        raise Unread("name at least one, separated by commas")
    languages = list(dict.fromkeys(["", *(language_and_word(word)[0] for word in words)]))
    words.sort(key=lambda word: languages.index(language_and_word(word)[0]))
    return tuple(dict.fromkeys(words))


def _words(text: str) -> Iterator[str]:
    for chunk in scalars.split_outside(text, ";"):
        language, at = "", 0
        for mark in [*_LANGUAGE.finditer(chunk), None]:
            end = len(chunk) if mark is None else mark.start()
            for word in map(value_text, scalars.listed(chunk[at:end].strip(" ,"))):
                if word:
                    yield keyword_of(language, word)
            if mark is not None:
                language, at = _code(mark[1]), mark.end()


def _code(name: str) -> str:
    code = _NAMES.get(name.lower(), name.lower())
    if len(code) > 3:  # noqa: PLR2004 - the longest code of ISO 639
        raise Unread(f"write the language {name!r} as its code, such as `de`")
    return code
