"""Other forms of the same file; each must read as the same spec."""

import re
from collections.abc import Callable

_BULLET = re.compile(r"^(\s*)- ")
_KEY = re.compile(r"^(\s*(?:[-*+]|\d+[.)]) )\*\*([A-Z][^*\n]*)\*\*:")


def _lines(text: str, change: Callable[[str], str]) -> str:
    """Change the lines outside fences."""
    out, fenced = [], False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            out.append(line)
        else:
            out.append(line if fenced else change(line))
    return "\n".join(out)


def crlf(text: str) -> str:
    return text.replace("\n", "\r\n")


def byte_order_mark(text: str) -> str:
    return "\ufeff" + text


def star_bullets(text: str) -> str:
    return _lines(text, lambda line: _BULLET.sub(r"\1* ", line))


def plus_bullets(text: str) -> str:
    return _lines(text, lambda line: _BULLET.sub(r"\1+ ", line))


def plain_keys(text: str) -> str:
    return _lines(text, lambda line: _KEY.sub(r"\1\2:", line))


def colon_inside_bold(text: str) -> str:
    return _lines(text, lambda line: _KEY.sub(r"\1**\2:**", line))


def underscore_bold(text: str) -> str:
    return _lines(text, lambda line: _KEY.sub(r"\1__\2__:", line))


def code_keys(text: str) -> str:
    return _lines(text, lambda line: _KEY.sub(r"\1`\2`:", line))


def dash_separators(text: str) -> str:
    return _lines(text, lambda line: _KEY.sub(r"\1**\2** -", line))


def loose_lists(text: str) -> str:
    return _lines(text, lambda line: f"\n{line}" if re.match(r"\s*(-|\d+\.) ", line) else line)


def closing_brackets(text: str) -> str:
    return _lines(text, lambda line: re.sub(r"^(\s*\d+)\. ", r"\1) ", line))


def _indent(text: str, by: Callable[[int], str]) -> str:
    def change(line: str) -> str:
        stripped = line.lstrip(" ")
        return by(len(line) - len(stripped)) + stripped

    return _lines(text, change)


def four_space_indents(text: str) -> str:
    """Indent each level of nesting by four columns, below numbers and bullets."""
    return _indent(text, lambda width: " " * (4 * (width // 2)))


def tabs(text: str) -> str:
    return _indent(text, lambda width: "\t" * (width // 2))


def trailing_spaces(text: str) -> str:
    return _lines(text, lambda line: line + "  " if line else line)


def closing_hashes(text: str) -> str:
    return _lines(text, lambda line: re.sub(r"^(#+) (.*)$", r"\1 \2 \1", line))


def lower_case_keys(text: str) -> str:
    return _lines(text, lambda line: _KEY.sub(lambda m: f"{m[1]}**{m[2].lower()}**:", line))


def underscored_keys(text: str) -> str:
    return _lines(
        text, lambda line: _KEY.sub(lambda m: f"{m[1]}**{m[2].lower().replace(' ', '_')}**:", line)
    )


def deeper_headings(text: str) -> str:
    return _lines(text, lambda line: f"#{line}" if line.startswith("#") else line)


def numbered_headings(text: str) -> str:
    numbers = iter(range(1, 100))
    return _lines(text, lambda line: re.sub(r"^## ", lambda _: f"## {next(numbers)}. ", line))


def emoji_headings(text: str) -> str:
    return _lines(text, lambda line: re.sub(r"^(##) ", r"\1 🔧 ", line))


def no_blank_below_headings(text: str) -> str:
    return re.sub(r"^(##+ .*)\n\n(?=[-*] )", r"\1\n", text, flags=re.MULTILINE)


def setext_headings(text: str) -> str:
    title = re.sub(r"^# (.*)$", r"\1\n=====", text, count=1, flags=re.MULTILINE)
    return _lines(title, lambda line: re.sub(r"^## (.*)$", r"\1\n-----", line))


def comments(text: str) -> str:
    return _lines(
        text, lambda line: f"<!-- reviewed -->\n\n{line}" if line.startswith("## ") else line
    )


def comments_at_line_ends(text: str) -> str:
    return _lines(
        text,
        lambda line: f"{line} <!-- reviewed -->" if re.match(r"#+ |\s*(-|\d+\.) ", line) else line,
    )


def section_aliases(text: str) -> str:
    for name, alias in (
        ("Parameters", "Arguments"),
        ("Returns", "Output"),
        ("Metadata", "Meta"),
        ("Input Schema", "Inputs"),
    ):
        text = text.replace(f"\n## {name}\n", f"\n## {alias}\n")
    return text


def yes_and_no(text: str) -> str:
    said = {"true": "Yes", "false": "No"}
    return _lines(
        text,
        lambda line: re.sub(
            r"(\*\*(?:Required|Requires [^*]*|Read Only|Unique|Sensitive)\*\*: )(true|false)$",
            lambda m: m[1] + said[m[2]],
            line,
        ),
    )


def signs(text: str) -> str:
    said = {"true": "✅", "false": "❌"}
    return _lines(
        text,
        lambda line: re.sub(
            r"(\*\*Required\*\*: )(true|false)$", lambda m: m[1] + said[m[2]], line
        ),
    )


def no_break_spaces_in_keys(text: str) -> str:
    return _lines(
        text, lambda line: _KEY.sub(lambda m: f"{m[1]}**{m[2].replace(' ', chr(160))}**:", line)
    )


def zero_width_in_keys(text: str) -> str:
    return _lines(text, lambda line: _KEY.sub(lambda m: f"{m[1]}**{m[2]}\u200b**:", line))


def full_width_colons(text: str) -> str:
    return _lines(text, lambda line: _KEY.sub("\\1**\\2**\uff1a", line))


def parameter_names_in_code(text: str) -> str:
    return _lines(text, lambda line: re.sub(r"^### (\w+)$", r"### `\1`", line))


def escaped_underscores(text: str) -> str:
    return _lines(
        text,
        lambda line: line.replace("_", r"\_") if re.match(r"^### \w+$", line) else line,
    )


def python_types(text: str) -> str:
    words = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
    return _lines(
        text,
        lambda line: re.sub(
            r"(\*\*Type\*\*: )(string|integer|number|boolean)$",
            lambda m: m[1] + words[m[2]],
            line,
        ),
    )


REWRITINGS = [
    value
    for name, value in list(globals().items())
    if callable(value) and name.islower() and not name.startswith("_")
]
