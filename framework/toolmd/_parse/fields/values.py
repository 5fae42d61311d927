"""Read an entry's value by its field's kind, or report an error with the remedy."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace as replaced
from keyword import iskeyword
from typing import Any, TypeVar

from toolmd._parse import scalars
from toolmd._parse.blocks import Bullets, Comment, Node, mark_of, prose
from toolmd._parse.fields.entries import Fields, Unread, with_repeated
from toolmd._parse.fields.quotas import read_quotas
from toolmd._parse.page import Mark, Page, replace
from toolmd._parse.words import (
    code_text,
    flow,
    fold,
    nearest,
    plain,
    says_none,
    value_text,
    without_invisible,
)
from toolmd._types.approval import ALWAYS, LONGEST_S, Escalation
from toolmd._types.call import fact_name
from toolmd._types.call_spec import keyword_of, language_and_word
from toolmd._types.code import Code
from toolmd._types.field import EXACT, Row
from toolmd._types.identity import RESERVED
from toolmd._types.remote import METHODS, read_operation, read_remote_tool
from toolmd._types.schedule import cron_text, hours_of
from toolmd.errors import did_you_mean

ValueReader = Callable[[Page, Row, Node], Any]
_T = TypeVar("_T")


def with_unit(read: Callable[[str], _T | None], kind: str, text: str, unit: str) -> _T | None:
    """Read a value whose key may contain a unit: the number alone, or with that same unit.

    Args:
        read: parses a value of the kind from its text; returns None if it can't.
        kind: a key of `UNITS`.
        text: the value as written.
        unit: the unit that the key contains; empty without one.

    Returns:
        The value, or None if it can't be read or states another unit than its key.
    """
    if not unit:
        return read(text)
    number = plain(text).strip()
    behind = fold(number.lstrip("0123456789.,_ "))
    if not behind:
        return read(number + unit)
    stated = {scalars.UNITS[kind].get(behind), scalars.UNITS[kind].get(f"per{behind}")}
    return read(text) if unit in stated else None


def alone(read: Callable[[str], _T | None], remedy: str) -> ValueReader:
    """Build a reader for a value alone on its line; `read` returns None if it can't read it."""

    def reader(page: Page, known: Row, entry: Node) -> _T:
        value = None if entry.blocks else with_unit(read, known.kind, entry.text, known.unit)
        if value is None:
            raise Unread(
                f"the key has the unit {known.unit}: write only a number" if known.unit else remedy
            )
        return value

    return reader


whole = alone(scalars.whole, "write a whole number, 0 or above")


def number(page: Page, known: Row, entry: Node) -> int | float:
    """Read a number; a whole one such as `1.0` becomes an integer."""
    value = None if entry.blocks else scalars.number(entry.text)
    if value is None:
        raise Unread("write only a number, such as `0` or `2.5`")
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) <= EXACT
    return int(value) if is_whole else value


def count(page: Page, known: Row, entry: Node) -> int:
    """Read a whole number above 0."""
    value: int = whole(page, known, entry)
    if value == 0:
        raise Unread("write a whole number, 1 or above")
    return value


def share(page: Page, known: Row, entry: Node) -> float:
    """Read a number from 0 to 1."""
    value = number(page, known, entry)
    if not 0 <= value <= 1:
        raise Unread("write a number from 0 to 1, such as `0.8`")
    return float(value)


_EXAMPLE = "write `module:function`, such as `clinic:book`"
_OPERATION = "write `http METHOD PATH`, such as `http GET /pets/{id}` or `http GET shop:/pets/{id}`"
_REMOTE = "write `mcp SERVER TOOL`, such as `mcp github create_issue`"
_LONGEST = 256
"""In letters; a place of this length is no slip of the pen."""


def read_function(page: Page, known: Row, entry: Node) -> str:
    """Return `module:function`, `http METHOD PATH` or `mcp SERVER TOOL`, or raise Unread.

    A kebab module is written as snake, since its file may have either name.
    """
    text = entry.text
    text = text.strip("`").strip() if text.startswith("`") else plain(text)
    words = text.split()
    if entry.blocks or not words:
        raise Unread(_EXAMPLE)
    if words[0].lower() == "mcp" and len(words) > 1:
        if len(text) > _LONGEST or (remote := read_remote_tool(text)) is None:
            raise Unread(f"{_REMOTE}; SERVER is the name of a table [servers.SERVER]")
        return str(remote)
    if words[0].lower() == "http" and len(words) > 1:
        if len(text) > _LONGEST or (operation := read_operation(text)) is None:
            methods = ", ".join(METHODS)
            raise Unread(f"{_OPERATION}; METHOD is one of {methods}, PATH has no `?`, `#` or `..`")
        return str(operation)
    module, colon, function = text.partition(":")
    if not colon or len(text) > _LONGEST:
        raise Unread(_EXAMPLE)
    module = module.replace("-", "_")
    if "/" in module or "\\" in module or module.startswith("."):
        raise Unread(
            f"name a module of the same folder, or an installed one, not a path: {_EXAMPLE}"
        )
    if module.endswith(".py"):
        raise Unread(f"write the module without `.py`: `{module.removesuffix('.py')}:{function}`")
    if not all(map(_is_name, (*module.split("."), function))):
        raise Unread(_EXAMPLE)
    return f"{module}:{function}"


def _is_name(word: str) -> bool:
    return word.isidentifier() and not iskeyword(word)


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


def read_keywords(page: Page, known: Row, entry: Node) -> tuple[str, ...]:
    """Read the keywords of a line and of the bullets below it, those without a language first.

    A language holds for the words behind it, up to the next language or semicolon.
    """
    if entry.listed is not None:
        marks = entry.listed
    else:
        marks = [entry.value._replace(text=entry.text), *(item.mark for item in entry.items)]
        if any(item.blocks for item in entry.items) or (entry.blocks and not entry.items):
            raise Unread("write the words on one line, or as a nested bullet for each language")
    words = [word for mark in marks for word in _words(page, known, mark)]
    if not words or (len(words) == 1 and says_none(words[0])):
        raise Unread("name at least one, separated by commas")
    if not any(c.isalnum() for word in words for c in language_and_word(word)[1]):
        raise Unread("write a word: signs without a letter are never found in a message")
    languages = list(dict.fromkeys(["", *(language_and_word(word)[0] for word in words)]))
    words.sort(key=lambda word: languages.index(language_and_word(word)[0]))
    return tuple(dict.fromkeys(words))


def _words(page: Page, known: Row, mark: Mark) -> Iterator[str]:
    for chunk in scalars.split_outside(mark.text, ";"):
        language, at = "", 0
        for found in [*_LANGUAGE.finditer(chunk), None]:
            end = len(chunk) if found is None else found.start()
            for word in scalars.listed(chunk[at:end].strip(" ,")):
                if text := value_text(_item(page, known, page.mark(word, *mark[1:]))):
                    yield keyword_of(language, text)
            if found is not None:
                language, at = _code(found[1]), found.end()


def _code(name: str) -> str:
    code = _NAMES.get(name.lower(), name.lower())
    if len(code) > 3:  # noqa: PLR2004 - the longest code of ISO 639
        raise Unread(f"write the language {name!r} as its code, such as `de`")
    return code


def read_values(page: Page, fields: Fields) -> dict[str, Any]:
    """Read every known field that has a reader; report each value that can't be read."""
    values: dict[str, Any] = {}
    report_twice(page, fields)
    for attribute, (known, entry) in fields.known.items():
        reader = READERS.get(known.kind)
        if reader is None:
            continue
        try:
            values[attribute] = _read(page, known, entry, reader)
        except Unread as unread:
            if _report_nested(page, known, entry) or _report_below(page, known, entry, reader):
                continue
            shown = entry.text or ("the text below it" if entry.blocks else "nothing")
            page.error(
                Code.UNREADABLE_VALUE,
                entry.written,
                f"'{known.name}' can't be read from "
                + (f"'{_short(shown)}'" if entry.text else shown),
                str(unread) + (_OTHER_FIELDS.get(attribute, "") if set(shown) & _OF_MORE else ""),
                replace(entry.written, unread.instead) if unread.instead else (),
            )
    return values


def _read(page: Page, known: Row, entry: Node, reader: ValueReader) -> Any:
    """Read a value; a remark in brackets behind it, `true (always)`, is no part of it."""
    bare, remark = without_remark(entry.value)
    is_code = bare.text[:1] == bare.text[-1:] == "`" and known.kind not in _TEXTS
    if not (remark.text and (is_code or known.kind in _WORDS)):
        try:
            return reader(page, known, entry)
        except Unread:
            if not remark.text:
                raise
    value = reader(page, known, replaced(entry, value=bare))
    report_remark(page, remark)
    return value


def report_twice(page: Page, fields: Fields) -> None:
    """Report each field that is written twice; join the lines of one that may be repeated."""
    for known, entry in fields.twice:
        before, first = fields.known[known.attribute]
        what, help_ = f"'{known.name}' is written twice here", f"in line {first.key.line}"
        if known.kind == "escalations":
            fields.known[known.attribute] = before, with_repeated(first, entry)
        elif is_same((before, first), (known, entry)):
            is_implied = entry.implied or first.implied  # as of `name?` and `Required: no`
            if not (is_implied and known.kind == "boolean"):
                page.warn(Code.DUPLICATE_FIELD, entry.key, what, f"keep the one {help_}")
        else:
            what += ", with different values" if known.kind in READERS else ""
            help_ = f"keep one; the other is {help_}"
            if entry.spot is entry.value and known.attribute == "types":
                what = "a value has one type"
                help_ = "write one, or both with a bar between them: `string | integer`"
            page.error(Code.DUPLICATE_FIELD, entry.spot, what, help_)


def is_same(*entries: tuple[Row, Node]) -> bool:
    """Return whether two entries mean the same.

    `true` and `yes` do. `1.1` and `1.10` don't. Expressions and patterns that differ in case
    don't, either.
    """
    try:
        one, other = (_read(Page("", []), row, entry, READERS[row.kind]) for row, entry in entries)
    except (Unread, KeyError):  # a value that can't be read is reported where fields are read
        (_, a), (_, b) = entries
        return a.text == b.text and not a.blocks and not b.blocks
    if all(row.kind in _FOLDED for row, _ in entries):
        return bool(one.replace("-", "_").casefold() == other.replace("-", "_").casefold())
    return bool(one == other)


_FOLDED = frozenset(("word", "identifier"))
"""The kinds in which `get-x` and `Get_X` mean the same."""
_TEXTS = frozenset(("text", "line", "prose"))
_WORDS = frozenset(("word", "identifier", "format", "phrase"))


_REMARK = re.compile(r"(.*[^\s(])\s+(\([^()]*\))\s*", re.DOTALL)


def without_remark(value: Mark) -> tuple[Mark, Mark]:
    """Split `a, b (optional)` into the value and its remark, which is empty without one."""
    found = _REMARK.fullmatch(value.text)
    if found is None:
        return value, value._replace(text="")
    return value.at(0, found.end(1)), value.last(found[2])


def report_remark(page: Page, remark: Mark) -> None:
    """Warn of a remark behind a value."""
    what = f"'{remark.text}' is a remark and no part of the value"
    help_ = "remove it, or put the value in quotes if the brackets are a part of it"
    page.warn(Code.UNREAD_DETAIL, remark, what, help_, replace(remark, ""))


_OTHER_FIELDS = {
    "requires_confirmation": "; for a condition, write `- **Confirm When**: …`",
    "max_calls": "; for calls in a time, write `- **Quota**: 3 calls per user per day`",
}
_OF_MORE = frozenset(" /<>=")  # the signs of a value that may belong to one of these


def _report_nested(page: Page, known: Row, entry: Node) -> bool:
    """Report fields that are nested below a value of one line; return whether there are any."""
    nested = [item for item in entry.items if item.entry is not None] if entry.text else []
    for item in nested:
        what = f"the bullet in line {item.mark.line} is nested below {known.name}"
        page.error(Code.UNREADABLE_VALUE, item.mark, what, "unindent it")
    return bool(nested)


def _report_below(page: Page, known: Row, entry: Node, reader: ValueReader) -> bool:
    """Report a block below a value that could be read without it; return whether there is one."""
    below = [block for block in entry.blocks if not isinstance(block, Comment)]
    if not below or not entry.text:
        return False
    try:
        reader(Page("", []), known, replaced(entry, blocks=[]))
    except Unread:
        return False
    what = f"this below {known.name} is no part of its value"
    page.error(Code.UNREADABLE_VALUE, mark_of(below[0]), what, "remove it, or unindent it")
    return True


def _text(page: Page, known: Row, entry: Node) -> str:
    if known.kind == "line" and entry.text and any(item.keyed for item in entry.items):
        raise Unread("write it on one line")
    text = entry.text
    parts = [value_text(without_invisible(text)) if text else "", prose(entry.blocks)]
    return "\n\n".join(part for part in parts if part)


def _prose(page: Page, known: Row, entry: Node) -> str:
    return "\n\n".join(part for part in (entry.text, prose(entry.blocks)) if part)


def _word(page: Page, known: Row, entry: Node) -> str:
    word = plain(entry.text)
    if not word or entry.blocks:
        raise Unread("write one word")
    return word


_FORMATS = {
    **{fold(name): name for name in ("date", "time", "date-time", "email", "uri", "uuid")},
    **dict.fromkeys(("isodatetime", "iso8601", "timestamp"), "date-time"),
    "isodate": "date",
    "yyyymmdd": "date",
    "hhmm": "time",
    "url": "uri",
    "link": "uri",
}
"""Each folded word to the format that is checked."""


def _format(page: Page, known: Row, entry: Node) -> str:
    word = _word(page, known, entry)
    checked = tuple(dict.fromkeys(_FORMATS.values()))
    if (found := _FORMATS.get(fold(word))) is None:
        if near := nearest(word, checked):
            raise Unread(f"did you mean '{near}'?", near)
        what = f"nothing checks the format '{word}': it is a note for the model"
        help_ = f"the formats that are checked are {', '.join(checked)}; or write a Pattern"
        page.warn(Code.UNREAD_DETAIL, entry.value, what, help_)
    return found or word


def _boolean(page: Page, known: Row, entry: Node) -> Any:
    if not entry.keyed and not entry.blocks:
        return entry.checked is not False
    flag = None if entry.blocks else scalars.boolean(entry.text)
    if flag is None:
        raise Unread("write yes or no")
    if entry.checked not in {None, flag}:
        raise Unread("tick the box or write the word: they differ")
    return flag


def _choice(page: Page, known: Row, entry: Node) -> str:
    word = fold(plain(entry.text))
    if set(known.choices) >= {"yes", "no"} and word not in map(fold, known.choices):
        flag = scalars.boolean(entry.text)
        word = word if flag is None else "yes" if flag else "no"
    for choice in known.choices:
        if word == fold(choice) and not entry.blocks:
            return choice
    options = ", ".join(known.choices)
    near = nearest(word, known.choices)
    mark = page.mark(entry.text, entry.value.line, entry.value.column)
    if near and not known.restricts:
        what = f"'{entry.text}' was read as '{near}'"
        page.warn(Code.MISSPELT_FIELD, mark, what, f"write '{near}'", replace(mark, near))
        return near
    raise Unread(f"write one of {options}" + (f"; did you mean '{near}'?" if near else ""))


def _list(page: Page, known: Row, entry: Node) -> tuple[str, ...]:
    if entry.listed is not None:
        marks = entry.listed
    else:
        marks = [page.mark(word, *entry.value[1:]) for word in scalars.listed(entry.text)]
        marks += [i.mark._replace(text=flow_item(i.mark.text)) for i in entry.items]
    prosaic = any(not isinstance(block, Bullets | Comment) for block in entry.blocks)
    if prosaic or any(prose(item.blocks) for item in entry.items):
        raise Unread("write the values on one line, or as nested bullets")
    read = tuple(value_text(_item(page, known, mark)) for mark in marks)
    read = () if len(read) == 1 and says_none(read[0]) else read
    if known.restricts and not any(read):
        raise Unread("name at least one, separated by commas")
    return tuple(word for word in read if word)


def _item(page: Page, known: Row, mark: Mark) -> str:
    """Return an item of a list; report the remark in brackets behind it."""
    bare, remark = without_remark(mark)
    if not remark.text or known.kind == "patterns":
        return mark.text
    report_remark(page, remark)
    return bare.text


_ALL_OF = re.compile(r"(?i)\s(?:and|&|\+)\s")
_ANY_ROLE = frozenset(("any", "all", "everyone", "everybody", "anyone", "anybody", "*"))


def _roles(page: Page, known: Row, entry: Node) -> tuple[str, ...]:
    roles = _list(page, known, entry)
    if _ALL_OF.search(" ".join([entry.text, *roles])):
        for_all = "an approval for each, if both must agree"
        if known.attribute == "allowed_roles":
            for_all = "a rule, if a caller needs both: `'a' in caller.roles && 'b' in caller.roles`"
        raise Unread(f"write `a, b` if one of them suffices, or {for_all}")
    for role in roles:
        if role.casefold() in _ANY_ROLE:
            raise Unread(f"name the roles of which one suffices; without {known.name}, any will do")
        if role.casefold().startswith(("not ", "!")):
            rule = f"`!('{role.split()[-1]}' in caller.roles)`"
            raise Unread(f"for all but some, write a rule: {rule}")
        there_are = page.identity.roles if page.identity is not None else ()
        if there_are and role not in there_are:
            mark = page.mark(role, entry.value.line, entry.value.column)
            help_ = did_you_mean(role, there_are) or f"the roles are {', '.join(there_are)}"
            page.error(Code.UNKNOWN_ROLE, mark, f"the settings have no role '{role}'", help_)
    return roles


def _condition(page: Page, known: Row, entry: Node) -> str:
    source = code_text(entry.text)
    if source.strip("'\". ").lower() == ALWAYS:
        return ALWAYS
    if not source or entry.blocks or (source == entry.text and not set(source) & set("<>=!&|(")):
        raise Unread("write an expression in a code span, `` `amount > 100` ``, or always")
    return source


def read_approvers(page: Page, known: Row, entry: Node) -> tuple[str, ...] | str:
    """Read roles, or a code span with an expression that says who may approve."""
    source = code_text(entry.text)
    if source != entry.text and "`" not in source:
        if re.fullmatch(r"[\w-]+", source):
            raise Unread(f"a code span is an expression; for the role, write {source}", source)
        return source
    named = _roles(page, known, entry)
    if any(one.casefold() in _OWN for one in named):
        raise Unread("name a role of another person: nobody approves their own call")
    return named


_OWN = frozenset(("me", "caller", "the caller", "user", "the user", "self", "myself"))
_ESCALATION = re.compile(r"after\s+(.+?)\s+to\s+(.+)", re.IGNORECASE)


def read_escalations(page: Page, known: Row, entry: Node) -> tuple[Escalation, ...]:
    """Read `after 4 hours to head_of_support`, or one in each nested bullet."""
    marks = [entry.value] if entry.text else []
    marks += [item.mark for item in entry.items]
    others = [block for block in entry.blocks if not isinstance(block, Bullets)]
    if not marks or prose(others) or any(prose(i.blocks) for i in entry.items):
        raise Unread("write `after 4 hours to ROLE`, or each as a nested bullet")
    found = []
    for mark in marks:
        match = _ESCALATION.fullmatch(flow(mark.text))
        seconds = scalars.duration(match[1]) if match else None
        if match is None or seconds is None:
            raise Unread("write `after 4 hours to head_of_support`")
        to = replaced(entry, value=mark._replace(text=match[2]), blocks=[])
        found.append(Escalation(seconds, _approver_roles(page, known, to)))
    return tuple(sorted(found, key=lambda one: one.after_s))


def _approver_roles(page: Page, known: Row, entry: Node) -> tuple[str, ...]:
    named = read_approvers(page, known, entry)
    if isinstance(named, str):
        raise Unread("name roles: `after 4 hours to head_of_support`")
    return named


def _hours(page: Page, known: Row, entry: Node) -> str:
    try:
        hours = hours_of(entry.text)
    except ValueError as error:
        raise Unread(str(error)) from None
    if not hours.zone and page.identity is not None and not page.identity.time_zone:
        page.error(
            Code.TIME_ZONE_MISSING,
            entry.mark,
            "the hours have no time zone, and the settings name none",
            'write one behind them, Europe/Berlin, or set it: time_zone = "Europe/Berlin"',
        )
    return str(hours)


def _term(text: str) -> float | None:
    seconds = scalars.duration(text)
    return None if seconds is None or seconds > LONGEST_S else seconds


_EVERY = "every "
_NO_HOST = frozenset(("any", "all", ""))
_HOST_SIGNS = frozenset("-_.:[]")


def _hosts(page: Page, known: Row, entry: Node) -> tuple[str, ...]:
    hosts = _list(page, known, entry)
    for host in hosts:
        name = host.removeprefix("*.").lower()
        signs = name.isascii() and all(c.isalnum() or c in _HOST_SIGNS for c in name)
        if name in _NO_HOST or not signs or "." in (name[0], name[-1]):
            raise Unread(
                f"'{_short(host)}' is not a host; write `api.example.org`, or `*.example.org` for "
                "all hosts below it, separated by commas"
            )
    return hosts


def _names(page: Page, known: Row, entry: Node) -> tuple[str, ...]:
    if (not entry.text or says_none(entry.text)) and not entry.blocks and entry.listed is None:
        return ()
    words = _list(page, known, entry)
    names = tuple(word.strip("`*_ ").replace("-", "_") for word in words)
    for name in names:
        if not name.isidentifier():
            raise Unread("write names separated by commas, such as `check_availability, book`")
    return names


def _patterns(page: Page, known: Row, entry: Node) -> tuple[str, ...]:
    words = _list(page, known, entry)
    return tuple(scalars.split_words(words[0])) if len(words) == 1 else words


def _context(page: Page, known: Row, entry: Node) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_fact(word) for word in _list(page, known, entry)))


def _suppliers(page: Page, known: Row, entry: Node) -> dict[str, str]:
    found: dict[str, str] = {}
    for supplied in _list(page, known, entry):
        words = supplied.split()
        if len(words) != 3 or words[1].lower() != "from":  # noqa: PLR2004 - `fact from input`
            raise Unread("write `patient from patientId`: a fact, `from` and an input's name")
        fact = _fact(words[0])
        if fact in found:
            raise Unread(f"{fact} is supplied twice: keep one")
        found[fact] = plain(words[2])
    return found


def _schedule(page: Page, known: Row, entry: Node) -> str:
    text = " ".join(code_text(entry.text).split())
    every = text[len(_EVERY) :] if text.lower().startswith(_EVERY) else ""
    seconds = scalars.duration(every)
    if seconds is not None and seconds % 1 == 0:
        return f"{_EVERY}{int(seconds)}s"
    canonical = None if every or entry.blocks else cron_text(text)
    if canonical is None:
        raise Unread(
            "write `every 15m`, or minute, hour, day, month and weekday as `0 7 * * 1-5`, "
            "with a time zone as `0 7 * * 1-5 in Europe/Paris`"
        )
    return canonical


def _inputs(page: Page, known: Row, entry: Node) -> dict[str, str]:
    items = [item.entry for item in entry.items]
    found = {plain(one.key.text): value_text(one.text) for one in items if one is not None}
    bullets = all(isinstance(block, Bullets | Comment) for block in entry.blocks)
    nested = any(one is None or one.blocks for one in items)
    if entry.text or not bullets or nested or not items or len(found) != len(items):
        raise Unread("write `- input: value` below it, one line for each input")
    return found


def _fact(word: str) -> str:
    """Return the name of a fact in snake case; raises Unread for anything but a name."""
    name = fact_name(plain(word))
    if name is None or scalars.boolean(name) is not None:
        raise Unread("write names of facts separated by commas, such as `patient, tenant`")
    if name in RESERVED:
        raise Unread(f"every caller has `caller.{name}`: give the fact another name")
    return name


def _expression(page: Page, known: Row, entry: Node) -> str:
    source = code_text(entry.text)
    if not source or entry.blocks:
        raise Unread("write an expression in a code span, such as `` `amount > 100` ``")
    return source


def _pattern(page: Page, known: Row, entry: Node) -> str:
    pattern = code_text(entry.text)
    if len(pattern) > 1 and pattern == entry.text and pattern[0] == pattern[-1] in ("'", '"'):
        pattern = pattern[1:-1]
    if pattern.startswith("/^"):
        raise Unread("write it without the slashes and flags around it, as `^[A-Z]+$`")
    if not pattern:
        raise Unread("write a regular expression in a code span, such as `` `[A-Z]{3}` ``")
    return pattern


def flow_item(text: str) -> str:
    """Return a bullet's text on one line, without a closing comma."""
    return " ".join(text.split()).rstrip(",")


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"  # noqa: PLR2004


READERS: Mapping[str, ValueReader] = {
    "text": _text,
    "phrase": _text,
    "line": _text,
    "prose": _prose,
    "word": _word,
    "format": _format,
    "identifier": _word,
    "boolean": _boolean,
    "number": number,
    "whole": whole,
    "count": count,
    "share": share,
    "choice": _choice,
    "list": _list,
    "names": _names,
    "keywords": read_keywords,
    "patterns": _patterns,
    "context": _context,
    "roles": _roles,
    "condition": _condition,
    "approvers": read_approvers,
    "escalations": read_escalations,
    "suppliers": _suppliers,
    "schedule": _schedule,
    "inputs": _inputs,
    "hosts": _hosts,
    "function": read_function,
    "duration": alone(scalars.duration, "write a number and a unit: `500ms`, `10s`, `2m`"),
    "term": alone(_term, "write a number and a unit, at most `30 days`"),
    "size": alone(scalars.size, "write a number and a unit: `512`, `64KB`, `1MB`"),
    "rate": alone(
        scalars.rate,
        "Rate spaces the starts of all callers: write `3/s` or `100/min`; "
        "for a count, write `- **Quota**: 3 calls per user per day`",
    ),
    "quotas": read_quotas,
    "hours": _hours,
    "batch": alone(scalars.batch, "write the array parameter and a size: `texts by 256`"),
    "expression": _expression,
    "pattern": _pattern,
}
