"""Assess whether a message states a word, negates it, or only asks about it.

The message is split into clauses. A negating word counts within its clause, unless it is part of
an idiom such as "don't forget". What the rules can't decide is unsure.
"""

import re
from collections.abc import Callable, Iterator
from enum import IntEnum
from functools import cache, lru_cache
from importlib.resources import files

from toolmd._types.language import NEVER, Language, has_cjk, read_language

Finder = Callable[[str], Iterator[re.Match[str]]]
"""Finds the sought words in a folded text."""
_WORD = re.compile(r"\w+(?:'\w+)?")
_SPACES = re.compile(r"[^\S\n]{2,}|[^\S\n ]")
_SENTENCE = re.compile(r"[!?;\n。]+|\.+(?=\s|$)|\s(?=¿)")
_COMMA = re.compile(r"[,、](?!\d)|\s[-\u2013\u2014]+\s|[()\u2014\"\u201c\u201d«»]|:(?!\d)")
_QUOTED = re.compile(r"[\"\u201c\u201d\u201e][^\"\u201c\u201d\u201e]*[\"\u201c\u201d]|«[^»]*»")
_LEAD = re.compile(r"\W*")


MAX_ASSESSED = 8 * 1024
"""The characters of a message that are assessed; of a longer one a person is asked."""
_ENOUGH = 2048
"""The characters by which a language is recognized."""
_BARE = 2
"""The most words of a clause that has no verb of its own yet: "do not"."""
_ANSWERS = frozenset(("no", "nope", "nah", "nein", "nee", "non", "不"))
"""Negating words that stand alone as an answer."""
_CODES = ("en", "de", "es", "fr", "zh")


class Said(IntEnum):
    """What a message says of a word, the least certain first."""

    NO = 0
    UNSURE = 1
    YES = 2


class Languages:
    """The languages in which a message is assessed: the built-in ones, and those of packages."""

    def __init__(self, added: tuple[Language, ...] = ()) -> None:
        """Add the languages of packages to the built-in ones."""
        own = _built_in()
        listed = (*own.values(), *added)
        # A negating word of any language counts in every message: it can only stop a call.
        negators = re.compile("|".join(one.negators.pattern for one in listed))
        self._all = tuple(one._replace(negators=negators) for one in listed)
        self._unspaced = (self._all[[*own].index("zh")], *self._all[len(own) :])

    def of(self, text: str) -> Language:
        """Return the language of which the text has most frequent words, or else an idiom."""
        words, letters = {*_WORD.findall(text[:_ENOUGH])}, {*text[:_ENOUGH]}
        if has_cjk(text):
            # A script without spaces has no words to count, so letters such as kana decide.
            return max(self._unspaced, key=lambda one: len(letters & one.letters))

        def count(language: Language) -> tuple[int, bool]:
            known = len(words & language.common) + len(letters & language.letters)
            return known, language.idioms.search(text) is not None

        # The first of equals, so English where nothing decides.
        return max(self._all, key=count)


@lru_cache(maxsize=16)
def languages_with(added: tuple[Language, ...] = ()) -> Languages:
    """Return the built-in languages with those of packages; the same object for the same ones."""
    return Languages(added)


@cache
def _built_in() -> dict[str, Language]:
    """Read the languages by their codes, English first."""
    folder = files("toolmd._call.guards") / "languages"
    return {code: read_language((folder / f"{code}.toml").read_text("utf-8")) for code in _CODES}


def assess(folded: str, find: Finder, languages: Languages, *, of_others: bool = False) -> Said:
    """Return what a message says of the words that `find` finds.

    Args:
        folded: The message, NFKC and case-folded.
        find: Finds the words.
        languages: The languages whose rules count.
        of_others: Whether the words of others, as in "the doctor said", count as the user's.

    Returns:
        YES where it states them, UNSURE where a person should be asked, NO where they are missing
        or negated. The last mention counts; an earlier one of another kind makes a NO unsure.
    """
    text = _SPACES.sub(" ", folded.replace("\u2019", "'").replace("\u2018", "'"))
    wanted = tuple(match.span() for match in find(text))
    if not wanted:
        return Said.NO
    return (
        Said.UNSURE if len(text) > MAX_ASSESSED else _assessed(text, wanted, languages, of_others)
    )


@lru_cache(maxsize=64)
def _assessed(
    text: str,
    wanted: tuple[tuple[int, int], ...],
    languages: Languages,
    of_others: bool,  # noqa: FBT001 - one caller
) -> Said:
    rules = languages.of(text)
    most = Said.YES
    if of_others:
        rules = rules._replace(reports=NEVER)
    elif quotes := [mark.span() for mark in _QUOTED.finditer(text)]:
        # What stands in quotation marks are the words of somebody else, or a name.
        own = tuple(w for w in wanted if not any(b <= w[0] < e for b, e in quotes))
        wanted, most = own or wanted, most if own else Said.UNSURE
    found: list[Said] = []
    for begin, end in _sentences(text):
        said = [*_of_sentence(text, begin, end, wanted, rules)]
        if said and _is_question(text, begin, end, rules):
            said = [min(one, Said.UNSURE) for one in said]
        found += said
        if found and found[-1] is Said.YES and rules.withdraws.search(text, begin, end):
            last = max((e for b, e in wanted if begin <= b < end), default=begin)
            if rules.withdraws.search(text, last, end):
                found[-1] = Said.UNSURE
    if not found:
        return Said.UNSURE  # The words reach over the end of a sentence.
    if found[-1] is Said.NO and max(found) is not Said.NO:
        return Said.UNSURE
    return min(found[-1], most)


def _is_question(text: str, begin: int, end: int, rules: Language) -> bool:
    lead = _LEAD.match(text, begin, end)
    if rules.questions.match(text, lead.end() if lead else begin, end):
        return True
    if rules.requests.search(text, begin, end):
        return False
    return text[end : end + 1] == "?" or bool(rules.question_marks.search(text, begin, end))


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    begin = 0
    for mark in _SENTENCE.finditer(text):
        yield begin, mark.start()
        begin = mark.end()
    yield begin, len(text)


def _of_sentence(
    text: str, begin: int, end: int, wanted: tuple[tuple[int, int], ...], rules: Language
) -> Iterator[Said]:
    """Return what one sentence says of each word that is found in it."""
    before, hangs = Said.YES, False
    for start, stop in _clauses(text, begin, end, rules):
        here = [span for span in wanted if start <= span[0] < stop]
        clause = text[start:stop]
        if clause.isspace():
            continue
        negations = [
            (start + b, start + e)
            for b, e in _negations(clause, rules)
            if not any(start + b < w_end and w_begin < start + e for w_begin, w_end in here)
        ]
        # "Do not, in any case, turn it off": the negation has not found its verb yet.
        inherited = Said.UNSURE if hangs else Said.YES
        if before is not Said.YES:
            lead = clause.lstrip()
            if rules.inherits.match(lead) or rules.carried.search(clause):
                inherited = before
            elif rules.doubtful_inherits.match(lead):
                inherited = Said.UNSURE
        for w_begin, w_end in here:
            yield min(inherited, _of_word(text, (start, w_begin, w_end, stop), negations, rules))
        before = Said.NO if negations else inherited
        hangs = hangs or _hangs(text, (begin, stop), negations)


def _hangs(text: str, places: tuple[int, int], negations: list[tuple[int, int]]) -> bool:
    """Return whether a sentence is no more than a negating word so far, which is no answer."""
    if not negations:
        return False
    begin, end = negations[-1]
    return (
        not text[end : places[1]].strip()
        and text[begin:end] not in _ANSWERS
        and len(_WORD.findall(text, places[0], end)) <= _BARE
    )


def _of_word(
    text: str, places: tuple[int, int, int, int], negations: list[tuple[int, int]], rules: Language
) -> Said:
    """Return what a clause says of one word; `places` are the ends of both in the text."""
    start, begin, end, stop = places
    behind = (start, end, stop)
    if any(e <= begin for _, e in negations) or _is_behind(rules.after, text, behind, rules):
        return Said.NO
    doubts = (
        _is_behind(rules.doubtful_after, text, behind, rules)
        or rules.reports.search(text, start, begin)
        or rules.asks.search(text, start, stop)
    )
    return Said.UNSURE if doubts else Said.YES


def _is_behind(
    words: re.Pattern[str], text: str, places: tuple[int, int, int], rules: Language
) -> bool:
    """Return whether one of the words stands behind a place in a clause, outside of idioms."""
    start, end, stop = places
    found = words.search(text, end, stop)
    return found is not None and not any(
        idiom.start() <= found.start() and found.end() <= idiom.end()
        for idiom in rules.idioms.finditer(text, start, stop)
    )


def _clauses(text: str, begin: int, end: int, rules: Language) -> Iterator[tuple[int, int]]:
    marks = sorted(
        {(m.start(), m.end()) for m in _COMMA.finditer(text, begin, end)}
        | {(m.start(), m.start()) for m in rules.breaks.finditer(text, begin, end)}
        | {(m.start(), m.start()) for m in rules.doubtful_inherits.finditer(text, begin, end)}
        | {(m.start(), m.start()) for m in rules.inherits.finditer(text, begin, end)}
    )
    start = begin
    for stop, after in marks:
        if stop > start:
            yield start, stop
        start = max(start, after)
    if end > start:
        yield start, end


def _negations(clause: str, rules: Language) -> Iterator[tuple[int, int]]:
    """Return where a clause has negating words, of any language, outside of idioms."""
    # In step with the idioms, as a long message may have many of both.
    idioms = (m.span() for m in rules.idioms.finditer(clause))
    idiom = next(idioms, None)
    for found in rules.negators.finditer(clause):
        begin, end = found.span()
        while idiom is not None and idiom[1] <= begin:
            idiom = next(idioms, None)
        if idiom is None or not (idiom[0] <= begin and end <= idiom[1]):
            yield begin, end
