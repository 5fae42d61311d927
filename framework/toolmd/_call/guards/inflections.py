"""The inflected forms of an English word: regular ones by rule, the others from a list."""

from collections.abc import Iterator

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
