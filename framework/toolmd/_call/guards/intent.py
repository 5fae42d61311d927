"""Find words in the user's message: keywords, their inflections, and stated values."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from toolmd._call.guards.said import MAX_ASSESSED, Languages, Said, assess, languages_with
from toolmd._types.intent import language_and_word
from toolmd._types.language import has_cjk

_VOWELS = "aeiou"
_IRREGULAR = """
    be is are was were been being; become became; begin began begun; bring brought; build built;
    buy bought; catch caught; choose chose chosen; come came; cut cutting; do does did done doing;
    draw drew drawn; drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen;
    feed fed; feel felt; find found; fly flew flown; forget forgot forgotten; get got gotten;
    give gave given; go goes went gone going; grow grew grown; have has had having; hear heard;
    hold held; keep kept; know knew known; lead led; leave left; lend lent; lose lost; make made;
    mean meant; meet met; pay paid; put putting; read; ride rode ridden; ring rang rung;
    run ran; say said; see saw seen; sell sold; send sent; set setting; show showed shown;
    shut shutting; sing sang sung; sit sat; sleep slept; speak spoke spoken; spend spent;
    stand stood; swim swam swum; take took taken; teach taught; tell told; think thought;
    throw threw thrown; understand understood; wake woke woken; wear wore worn; win won;
    write wrote written; withdraw withdrew withdrawn; rewrite rewrote rewritten; undo undid undone;
    child children; foot feet; tooth teeth; man men; woman women; person people
"""
IRREGULAR = {forms[0]: tuple(forms[1:]) for forms in map(str.split, _IRREGULAR.split(";"))}
"""The irregular forms, by word."""


def inflections(word: str) -> Iterator[str]:
    """Return the forms of a word, itself first; a compound word has only itself."""
    yield word
    yield from IRREGULAR.get(word, ())
    if len(word) < 3 or not word.isalpha():  # noqa: PLR2004 - "go" and "at" would become others
        return
    yield word + "s"
    if word.endswith("e"):
        yield from (word + "d", word + "r", word + "rs", word[:-1] + "ing")
        return
    yield from (word + ending for ending in ("es", "ed", "ing", "er", "ers"))
    if word.endswith("y") and word[-2] not in _VOWELS:
        yield from (word[:-1] + ending for ending in ("ies", "ied", "ier"))
    elif word[-1] not in _VOWELS + "wxy" and word[-2] in _VOWELS and word[-3] not in _VOWELS:
        yield from (word + word[-1] + ending for ending in ("ed", "ing", "er", "ers"))


_WORD = re.compile(r"\w+")
MAX_MESSAGE = 256 * 1024
"""The characters of a message that are searched for the user's intent."""


def words_of(text: str) -> list[str]:
    """Split text into words, NFKC and case-folded, so that spelling variants are equal."""
    return _WORD.findall(_folded(text[:MAX_MESSAGE]))


def says_any(message: str, keywords: tuple[str, ...]) -> bool:
    """Return whether the message contains one of the keywords, whole or inflected.

    Negation does not count.
    """
    return _search(keywords).search(_folded(message)) is not None


def asks_for(message: str, keywords: tuple[str, ...], languages: Languages | None = None) -> Said:
    """Return whether the message asks for an action by one of its keywords, whole or inflected."""
    if len(message) > MAX_ASSESSED:
        return Said.UNSURE if says_any(message, keywords) else Said.NO
    return _asks_for(message, keywords, languages or languages_with())


@lru_cache(maxsize=64)
def _asks_for(message: str, keywords: tuple[str, ...], languages: Languages) -> Said:
    # The calls of a reply share their message.
    return assess(_folded(message), _search(keywords).finditer, languages)


def states(value: Any, message: str, languages: Languages | None = None) -> Said:
    """Return whether the message states a value: it has all its words, and negates none.

    A negating word that is part of the value does not count. A number counts as a whole: 1 is not
    stated by "1.5", and not for certain by "1,5" or "-1".
    """
    folded = _folded(message[:MAX_MESSAGE])
    texts = [_folded(text[:MAX_MESSAGE]) for text in _texts(value)]
    words = dict.fromkeys(word for text in texts for word in _STATED.findall(text))
    exact = [_exact(word) for word in words]
    signs = [text.strip() for text in texts if not _STATED.search(text)]
    if not all(re.search(one, folded) for one in exact) or any(s not in folded for s in signs):
        return Said.NO
    if not exact:
        return Said.YES
    find = re.compile("|".join(exact)).finditer
    said = assess(folded, find, languages or languages_with(), of_others=True)
    certain = all(re.search(_number(word), folded) for word in words if word[-1].isdigit())
    return said if certain else min(said, Said.UNSURE)


@lru_cache(maxsize=256)
def _search(keywords: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for the keywords, whole or, if they are English, inflected.

    The words of a longer keyword must stand side by side.
    """
    said = map(language_and_word, keywords)
    phrases = [_phrase(words, code) for code, word in said if (words := words_of(word))]
    # The keywords are words only, so the search is linear.
    return re.compile("|".join(phrases) or "(?!)")


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _phrase(words: list[str], language: str) -> str:
    """Match words side by side: the search skips to the first letter, then checks around it."""
    if any(map(has_cjk, words)):
        return r"\W*".join(map(re.escape, words))
    english = language in ("", "en")
    first, *others = ([*inflections(word)] if english else [word] for word in words)
    behind = "".join(rf"\W+(?:{'|'.join(map(re.escape, forms))})" for forms in others)
    ways = []
    for letter in dict.fromkeys(form[0] for form in first):
        said = "|".join(re.escape(form[1:]) for form in first if form[0] == letter)
        at = re.escape(letter)
        ways.append(rf"{at}(?<!\w{at})(?:{said}){behind}(?!\w)")
    return "|".join(ways)


_MINUS = "[-\u2212]"
_STATED = re.compile(rf"(?:(?<!\S){_MINUS}(?=\d))?\w+(?:(?<=\d)[.,](?=\d)\w+)*")
"""A word of a value; a number has its sign, and its point or comma."""


def _exact(word: str) -> str:
    """Match a word and no inflection of it; words of some scripts have no spaces around them.

    The digits before or behind a point are not the number, but zeros behind it change nothing.
    """
    if has_cjk(word):
        return word
    whole = re.sub("[.,]", r"(?:\\.|, ?)", word.lstrip("-\u2212"))
    begins, ends = (r"(?<!\d\.)" * whole[0].isdigit(), r"(?!\.\d)" * whole[-1].isdigit())
    zeros = r"(?:\.0{1,2})?" * whole.isdecimal()
    return rf"(?<!\w){begins}{whole}{zeros}{ends}(?!\w)"


def _number(word: str) -> str:
    """Match a word that ends in a digit where its sign and its end are certain."""
    minus = rf"(?:(?<!\S){_MINUS}|(?<=\bminus ))"
    signed = minus if word[0] in "-\u2212" else rf"(?<!\s{_MINUS})(?<!^{_MINUS})(?<!\bminus )"
    return rf"{signed}(?<!\d,){_exact(word)}(?!,\d)"


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, bool):
        yield "true" if value else "false"
    elif isinstance(value, float) and value.is_integer():
        yield str(int(value))
    elif value is not None:
        yield str(value)
