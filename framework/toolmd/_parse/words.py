"""Keys and names as people write them: folded, split from values, misspelt, repaired."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from toolmd._parse.page import Mark, Page, replace
from toolmd._types.code import Code


def flow(text: str) -> str:
    """Return soft-wrapped text on one line, without HTML comments."""
    text = without_comments(text)
    if "\n" not in text:
        return text.strip()
    return " ".join(line.strip().removesuffix("\\") for line in text.split("\n")).strip()


def without_comments(text: str) -> str:
    """Remove `<!-- … -->`; a comment in a code span, or one never closed, is text."""
    if "<!--" not in text:
        return text
    out, at = "", 0
    for start, end in _comments(text):
        out, at = out + text[at:start], end
    return out + text[at:]


def comments(text: str) -> list[str]:
    """Return the comments of a text, except those shown in code spans."""
    return [text[start:end] for start, end in _comments(text)]


def _comments(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        at = end + 3
        if not text.count("`", 0, start) % 2 or "`" not in text[at:]:
            yield start, at


_WRAPPERS = ("***", "**", "__", "``", "*", "_", "`")
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“”", "‚": "‘’", "「": "」"}  # noqa: RUF001
_OPENING = frozenset("*_`") | set(_QUOTES)
_ESCAPED = "_*~[]#|<>&`"
"""Signs that other tools escape with a backslash, so that they are not markup."""
COLONS = ":：﹕︓∶꞉"  # noqa: RUF001 - full-width and small colons, and lookalikes
DASHES = "-–—‒―−‐‑"  # noqa: RUF001 - hyphens, and the dashes that other tools make of them
SEPARATORS = COLONS + DASHES + "="
_DASHED = tuple(f" {dash} " for dash in DASHES)
_LOOKALIKES = str.maketrans(
    "АВЕЅІЈКМНОРСТХаеѕіјорсухӏԁһΑΒΕΖΗΙΚΜΝΟΡΤΧοаı",  # noqa: RUF001 - Cyrillic and Greek
    "ABESIJKMHOPCTXaesijopcyxldhABEZHIKMNOPTXoai",
)
"""Letters that look the same as Latin ones."""
_ROMAN = frozenset("ivx")
_KEYCAP = "\u20e3"
MAX_KEY = 48


class Pair(NamedTuple):
    """`key: value` found in a text."""

    key: Mark
    value: Mark
    marked: bool
    """Whether the key was written in bold, italics or a code span."""


def fold(text: str) -> str:
    """Return the form for comparing names: `min_length`, `Min Length` and `minLength` are equal."""
    # The same few dozen keys occur in every file.
    return _folded(text) if len(text) <= MAX_KEY else _folded.__wrapped__(text)


@lru_cache(maxsize=2048)
def _folded(text: str) -> str:
    normal = text
    if not text.isascii():
        normal = unicodedata.normalize("NFKC", text).translate(_LOOKALIKES)
    return "".join(c for c in normal if c.isalnum()).casefold()


def plain(text: str) -> str:
    """Return a name without markup, markdown escapes and invisible characters."""
    return _plain(text) if len(text) <= MAX_KEY else _plain.__wrapped__(text)


@lru_cache(maxsize=2048)
def _plain(text: str) -> str:
    text = unwrap(without_invisible(text).strip())
    return text.replace("\\", "") if "\\" in text else text


def without_invisible(text: str) -> str:
    """Remove zero-width characters and replace no-break spaces by plain ones."""
    if text.isascii():
        return text
    return "".join(
        " " if c == "\xa0" else c for c in text if unicodedata.category(c) not in {"Cf", "Cc"}
    )


def unwrap(text: str) -> str:
    """Remove bold, italics, code and quotes around a whole text."""
    opening = _OPENING
    while len(text) > 1 and text[0] in opening:
        inner = unquote(text).strip() if text[0] in _QUOTES else _inside_marks(text)
        if inner is None or inner == text:
            return text
        if text[0] == "`":
            opening = frozenset(_QUOTES)  # within code, `_id_` is no markup
        text = inner
    return text


def _inside_marks(text: str) -> str | None:
    for wrapper in _WRAPPERS:
        size = len(wrapper)
        if (
            len(text) > 2 * size
            and text.startswith(wrapper)
            and text.endswith(wrapper)
            and wrapper not in text[size:-size]
        ):
            return text[size:-size].strip()
    return None


def unquote(text: str) -> str:
    """Remove one pair of quotes around a whole text."""
    closing, inner = _QUOTES.get(text[:1], ""), text[1:-1]
    whole = bool(inner) and text[-1] in closing and not any(sign in inner for sign in closing)
    return inner if whole else text


def value_text(text: str) -> str:
    """Return a value's text: a code span as written, other text without markup and escapes."""
    text = text.strip()
    words = unwrap(text)
    if "\\" not in words or text.startswith("`"):
        return words
    parts = words.split("\\")
    return parts[0] + "".join(p if p[:1] and p[0] in _ESCAPED else f"\\{p}" for p in parts[1:])


def code_text(text: str) -> str:
    """Return the content of a code span, or the text itself."""
    text = text.strip()
    ticks = len(text) - len(text.lstrip("`"))
    if ticks and text.endswith("`" * ticks) and len(text) > 2 * ticks:
        return text[ticks:-ticks].strip()
    return text


def heading_text(text: str) -> str:
    """Return a heading without numbering, emoji, markup and a closing colon."""
    return _heading_text(text) if len(text) <= MAX_KEY else _heading_text.__wrapped__(text)


def section_title(text: str) -> str:
    """Return a heading for finding its section; `2 Parameters` is numbered, too."""
    text = heading_text(text)
    head, _, rest = text.partition(" ")
    number = head.strip(".)(").lower()
    if rest and (number.replace(".", "").isdigit() or _counts(head, number)):
        return rest.strip()
    return text


def _counts(head: str, number: str) -> bool:
    """Return whether a heading's first word is `II.`, `a)` or another count without digits."""
    return head != number and head[-1:] in ".)" and (len(number) == 1 or set(number) <= _ROMAN)


@lru_cache(maxsize=2048)
def _heading_text(text: str) -> str:
    text = _without_signs(plain(_without_anchor(without_comments(text))))
    head, _, rest = text.partition(" ")
    if rest and head[-1] in ".):" and head.strip("(.):").replace(".", "").isdigit():
        text = _without_signs(rest.strip())
    return plain(text.rstrip(COLONS + " "))


def _without_anchor(text: str) -> str:
    """Remove `{#id}` after a heading, and the target of a heading that is a link."""
    words, sign, anchor = text.rstrip().rpartition("{")
    if sign and anchor.endswith("}") and anchor[:1] in ("#", ":", "."):
        text = words.rstrip()
    words, sign, target = text.strip().partition("](")
    if sign and words.startswith("[") and target.find(")") == len(target) - 1:
        text = words[1:]
    return text


def _without_signs(text: str) -> str:
    """Remove emoji, their `:names:` and other signs before a heading's words."""
    start = 0
    if _KEYCAP in text[:4]:
        start = text.index(_KEYCAP) + 1
    elif text.startswith(":") and (end := text.find(": ", 1)) > 0 and " " not in text[:end]:
        start = end + 1
    while start < len(text) and not (text[start].isalnum() or text[start] in "_`*\"'([{<$"):
        start += 1
    return text[start:] or text


def split(mark: Mark) -> Pair | None:
    """Find `key: value` in any of its usual spellings; None if the text has none."""
    text = mark.text
    if text.startswith("**"):  # the canonical way, quickly
        close = text.find("**", 2)
        if close > 2 and text.startswith(":", close + 2) and text[close - 1] not in COLONS:  # noqa: PLR2004
            return _pair(mark, 2, close, close + 3, marked=True)
    start = len(text) - len(text.lstrip())
    while start < len(text) and not (text[start].isalnum() or text[start] in "*_`\"'[("):
        start += 1  # an emoji in front
    for wrapper in _WRAPPERS:
        if text.startswith(wrapper, start):
            return _split_marked(mark, start, wrapper)
    for at, char in enumerate(text[: MAX_KEY + 1]):
        if char in COLONS and at > start and text[at - 1] != "\\":
            return _pair(mark, start, at, at + 1, marked=False)
        if char in "`\n":
            break
    for separator in _DASHED:
        at = text.find(separator, start, MAX_KEY)
        if at > start:
            return _pair(mark, start, at, at + len(separator), marked=False)
    return None


_ASSIGNED = re.compile(r"[\W_]*([^=:→>]{2,40}?)[*_`]*\s*(?:=>?|->|→)(?!=)\s*(.*)", re.DOTALL)


def assigned(mark: Mark) -> Pair | None:
    """Find `key = value` or `key -> value`, which no field is written as."""
    found = _ASSIGNED.fullmatch(mark.text)
    if found is None or not found[2]:
        return None
    return _pair(mark, found.start(1), found.end(1), found.start(2), marked=False)


def _split_marked(mark: Mark, start: int, wrapper: str) -> Pair | None:
    text = mark.text
    inner = start + len(wrapper)
    close = text.find(wrapper, inner)
    if close <= inner:
        return None
    end = close + len(wrapper)
    key_end = close
    inside = text[inner:close].rstrip()
    if inside and inside[-1] in COLONS and inside[-2:-1] != "\\":
        return _pair(mark, inner, inner + len(inside) - 1, end, marked=True)
    rest = text[end:]
    stripped = without_invisible(rest).lstrip()
    if not stripped:
        return None
    if stripped[0] in SEPARATORS:
        value = end + rest.index(stripped[0]) + 1
        return _pair(mark, inner, key_end, value, marked=True)
    return None


def _pair(mark: Mark, start: int, end: int, value: int, *, marked: bool) -> Pair:
    text, line, column = mark
    rest = text[value:]
    behind = rest.lstrip()
    value += len(rest) - len(behind)
    key = Mark(text[start:end], line, column + start)
    return Pair(key, Mark(behind.rstrip(), line, column + value), marked)


_WHOLE = frozenset(("none", "na", "no", "nothing", "noneparameters", "nonerequired"))
_TAILS = ("noparameters", "noarguments", "noinputs", "noinput", "noparams", "noparametersrequired")
_SENTENCE = 60


def says_none(text: str) -> bool:
    """Return whether a text says that parameters, or anything at all, are absent."""
    folded = fold(text)
    return folded in _WHOLE or (len(folded) < _SENTENCE and folded.endswith(_TAILS))


_SHORT, _LONG = 4, 14
"""In a short name a changed letter makes another word; a long one may have two slips."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known name that `word` misspells by the fewest slips, or None."""
    folded = fold(word)
    slips = [name for name in known if is_slip(folded, fold(name))]
    return min(slips, key=lambda name: distance(folded, fold(name)), default=None)


def is_slip(word: str, name: str) -> bool:
    """Return whether two folded names differ by one slip, or by two in long names."""
    if word == name or not word or abs(len(word) - len(name)) > 2:  # noqa: PLR2004
        return False
    if len(name) <= _SHORT and len(word) == len(name) and sorted(word) != sorted(name):
        return False  # `time` does not misspell `type`
    if len(word) == len(name):
        changed = [at for at, (a, b) in enumerate(zip(word, name, strict=True)) if a != b]
        if len(changed) == 2 and changed[1] - changed[0] == 2:  # noqa: PLR2004 - two of three letters
            return False  # `Allowed Codes` does not misspell `Allowed Roles`
    return distance(word, name) <= (1 if len(name) < _LONG else 2)


def distance(a: str, b: str) -> int:
    """Count the letters to add, drop, change or swap from `a` to `b`."""
    older: list[int] = []
    old = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        new = [i]
        for j, y in enumerate(b, 1):
            cost = min(old[j] + 1, new[j - 1] + 1, old[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, older[j - 2] + 1)
            new.append(cost)
        older, old = old, new
    return old[-1]


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
        what = f"'{name}' is not a valid parameter name; it was read as '{read_as}'"
        page.warn(Code.INVALID_NAME, mark, what, f"write '{read_as}'", replace(mark, read_as))
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
    read_as = repair_name(name)
    words = name.replace(" ", "").replace("-", "").replace("_", "")
    if read_as != UNNAMED and words.isalnum() and len(name) <= _LONGEST:
        what = f"'{name}' is not a valid name; it was read as '{read_as}'"
        page.warn(Code.INVALID_NAME, mark, what, f"write '{read_as}'", replace(mark, read_as))
        return read_as
    what = f"'{name}' is not a valid name"
    help_ = "use small letters, digits and _, at most 64, starting with a letter"
    page.error(Code.INVALID_NAME, mark, what, help_)
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


def repair_name(text: str) -> str:
    """Convert words, kebab or camel case into a snake-case name."""
    out = ""
    text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    for at, char in enumerate(text):
        if char.isupper() and at and (text[at - 1].islower() or text[at - 1].isdigit()):
            out += "_"
        out += char.lower() if char.isalnum() and char.isascii() else "_"
    name = "_".join(part for part in out.split("_") if part)[:_LONGEST]
    return name if is_name(name) else UNNAMED
