"""Translate errors of the CEL compiler and evaluator into messages for authors."""

import re
from collections.abc import Callable, Iterable, Sequence

from toolmd._expressions.error import EvaluationError, ExpressionError
from toolmd._expressions.extra import error_at, extra_word
from toolmd._expressions.lexer import tokens
from toolmd._expressions.prose import comparison_in_words
from toolmd._expressions.rewrite import RANGE, Rewritten
from toolmd.errors import did_you_mean

_NAMES = """
    all bool bytes cel.bind charAt contains distinct double duration dyn endsWith exists exists_one
    filter first flatten format getDate getDayOfMonth getDayOfWeek getDayOfYear getFullYear
    getHours getMilliseconds getMinutes getMonth getSeconds has hasValue indexOf int join last
    lastIndexOf lists.range lowerAscii map matches math.abs math.bitAnd math.bitNot math.bitOr
    math.bitShiftLeft math.bitShiftRight math.bitXor math.ceil math.floor math.greatest
    math.isFinite math.isInf math.isNaN math.least math.round math.sign math.sqrt math.trunc now
    next_days optFlatMap optMap optional.none optional.of optional.ofNonZeroValue or orValue
    replace reverse size slice sort sortBy split startsWith string strings.quote substring
    timestamp trim type uint upperAscii value
"""
FUNCTIONS = _NAMES.split()
"""The functions that an author may call, for suggestions."""
_SPACES = {name.partition(".")[0] for name in FUNCTIONS if "." in name}
_ELSEWHERE = {
    "count": "size",
    "len": "size",
    "length": "size",
    "lower": "lowerAscii",
    "max": "math.greatest",
    "min": "math.least",
    "upper": "upperAscii",
} | {name.removeprefix("math."): name for name in FUNCTIONS if name.startswith("math.")}
"""The names of functions in other languages, which no similar name would find."""
_NO_SUM = "CEL adds no list up; have a tool do it"
ERROR = re.compile(r"ERROR: <input>:(-?\d+):(-?\d+): (.*)$", re.MULTILINE)
_UNDECLARED = re.compile(r"undeclared reference to '\.?([^'.]+)([^']*)'")
_NO_FIELD = re.compile(r"undefined field '([^']*)' not found in struct '([^']*)'")
OVERLOAD = re.compile(
    r"(?:found no matching overload for '([^']*)' applied to '(.*?)'(?:$| )"
    r"|No matching overloads found : (\S+?)\((.*)\))"
)
_RANGE = re.compile(r"expression of type '(.*)' cannot be the range of a comprehension")
_STATUS = re.compile(r"^[A-Z_]+: ")
_WORDS = {
    "int": "integer",
    "int64": "integer",
    "uint": "unsigned integer",
    "uint64": "unsigned integer",
    "bool": "boolean",
    "null_type": "null",
    "string": "string",
    "double": "number",
    "map": "object",
    "dyn": "any",
}


def undeclared(text: str) -> set[str]:
    """Return the roots of the names that the compiler does not know."""
    return {match[1] for match in _UNDECLARED.finditer(text)}


def compile_error(
    text: str,
    rewritten: Rewritten,
    names: Iterable[str],
    compiles: Callable[[str], bool],
    fields: dict[str, list[str]] | None = None,
    numbers: Sequence[str] = (),
) -> ExpressionError:
    """Return the first error of the compiler's report, with its position in the source.

    `names` are those that the expression may read, and `numbers` those of numbers; the help
    proposes only expressions that pass `compiles`.
    """
    names = list(names)
    if (prose := comparison_in_words(rewritten.source, names, numbers)) is not None:
        help_ = f"write `{prose.expression}`"
        if not compiles(prose.expression):
            help_ = f"write `{prose.sign}` for it, between two values"
        elif len(numbers) > 1 and not set(numbers) & {m.text for m in tokens(rewritten.source)}:
            help_ = f"{help_}, with the name of the parameter that you mean"
        return error_at(rewritten.source, prose.at.at, f"'{prose.words}' is no operator", help_)
    # By position: the compiler reports a call's arguments before the call.
    found = min(ERROR.finditer(text), key=lambda e: (int(e[1]), int(e[2])), default=None)
    if found is None:
        return ExpressionError(_limit(text) or "the expression can't be compiled")
    line, column = int(found[1]), int(found[2])
    if line < 1:
        return ExpressionError(_limit(found[3]) or found[3])
    line, column = rewritten.place(line, column)
    extra = extra_word(rewritten.source, compiles) if "Syntax error" in found[3] else None
    if extra is not None:
        return extra
    message, hint, back = _mistake(found[3], rewritten, names, fields or {})
    return ExpressionError(message, max(column - back, 1), line=line, help=hint)


def _limit(text: str) -> str:
    if "recursion" in text:
        return "the expression is nested too deeply or too long a chain (32 levels)"
    if "map key type" in text:
        return "a key of an object must be text, a whole number, true or false"
    return ""


def _mistake(
    text: str, rewritten: Rewritten, names: list[str], fields: dict[str, list[str]]
) -> tuple[str, str, int]:
    """Return the message, the help, and how far left of the reported column it begins."""
    if found := _UNDECLARED.search(text):
        return _unknown(found[1], found[2], rewritten, names)
    if found := _NO_FIELD.search(text):
        known = fields.get(found[2], [])
        return f"no field '{found[1]}' here", did_you_mean(found[1], known) or _these(known), -1
    return _other(text), "", 0


def _other(text: str) -> str:
    if found := OVERLOAD.search(text):
        return overload_mismatch(found)
    if found := _RANGE.search(text):
        return f"{_types(found[1])} is no list to go through"
    if "reserved identifier" in text:
        return f"'{text.rsplit(' ', 1)[-1]}' is a word of CEL, no name"
    return _syntax(text) if text.startswith("Syntax error") else _types(text)


def _unknown(root: str, rest: str, rewritten: Rewritten, names: list[str]) -> tuple[str, str, int]:
    root = rewritten.aliases.get(root, root)
    if root in _SPACES and (name := _called_of(root, rewritten.source)):
        return f"unknown function '{name}'", _meant(name), 0
    if root in rewritten.calls and root not in rewritten.variables:
        if root in ("now", "next_days"):
            return f"'{root}' stands in a skill's steps only", "", len(root)
        return f"unknown function '{root}'", _meant(root), len(root)
    # The compiler marks the last dot of `a.b.c`; the author looks at the first letter.
    back = len(root) + len(rest[: rest.rfind(".")]) if "." in rest else 0
    hint = did_you_mean(root, names) or (f"write '{root}' in quotes if it is text" if names else "")
    return f"unknown name '{root}'", hint, back


def _called_of(space: str, source: str) -> str:
    """Return the first call of an unknown function in this namespace, such as `math.sum`."""
    marks = [mark.text for mark in tokens(source)]
    for at, text in enumerate(marks[:-3]):
        name = f"{space}.{marks[at + 2]}"
        if [text, marks[at + 1], marks[at + 3]] == [space, ".", "("] and name not in FUNCTIONS:
            return name
    return ""


def _meant(name: str) -> str:
    """Suggest a function for an unknown one."""
    space, _, bare = name.rpartition(".")
    if bare == "sum":
        return _NO_SUM
    if bare in _ELSEWHERE and _ELSEWHERE[bare] != name:
        return f"did you mean '{_ELSEWHERE[bare]}'?"
    if name in FUNCTIONS:
        return ""
    return did_you_mean(name, FUNCTIONS) or _these(
        [known for known in FUNCTIONS if space and known.startswith(f"{space}.")]
    )


def _these(words: list[str]) -> str:
    return f"known: {', '.join(words[:12])}" if words else ""


def overload_mismatch(found: re.Match[str]) -> str:
    """Return the sentence for a match of OVERLOAD."""
    name, types = (found[1], found[2]) if found[1] else (found[3], found[4])
    if name == RANGE:
        name = "lists.range"
    shown = _types(types).strip("()") or "nothing"
    operator = name.strip("_").replace("@in", "in")
    if operator == "[":
        operator = "[]"
    if name == "_?_:_":
        return f"the parts of '? :' do not fit: {shown}"
    return f"'{operator}' does not take {shown}"


def _types(text: str) -> str:
    text = re.sub(r"\btm\.[A-Za-z0-9_.]+", "object", text)
    text = re.sub(r"\bmap\([^()]*\)", "object", text)
    text = re.sub(r"\boptional_type\b", "optional", text)
    return re.sub(r"[A-Za-z_][A-Za-z0-9_]*", lambda m: _WORDS.get(m[0], m[0]), text)


def _syntax(text: str) -> str:
    if re.search(r"(?:at|input) '<EOF>'", text):
        return "the expression ends too early"
    if found := re.search(r"(?:at:|input) '(.*?)'(?: expecting| ?$|$)", text):
        return f"not understood at '{found[1][:40]}'"
    return "not understood"


def evaluation_error(text: str) -> EvaluationError:
    """Turn the evaluator's report into a sentence."""
    for pattern, sentence in _FAULTS:
        if found := pattern.search(text):
            return EvaluationError(sentence.format(*found.groups()))
    if found := OVERLOAD.search(text):
        return EvaluationError(overload_mismatch(found))
    return EvaluationError(_STATUS.sub("", text).removesuffix(" [INTERNAL]") or "no value")


_FAULTS = (
    (re.compile(r'No value with name "([^"]*)"'), "'{0}' has no value"),
    (re.compile(r'Key not found in map : "?([^"]*)"?$'), "there is no field '{0}'"),
    (re.compile(r"<jump_condition>|_&&_|_\|\|_"), "a condition is not true or false"),
    (re.compile("construction from null"), "a text contains an unpaired surrogate"),
    (re.compile("budget"), "the expression takes too many steps"),
    (re.compile("out of range for '([^']*)'"), "a number in '{0}' is too large"),
    (re.compile("bad_alloc"), "the result is too large"),
)
