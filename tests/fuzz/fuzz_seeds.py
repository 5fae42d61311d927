"""The seeds of fuzzing: the project's own definitions and cases, collected at the start."""

import re
from collections.abc import Iterator
from pathlib import Path

from toolmd._dialect import DIALECTS
from toolmd._expressions.functions import FUNCTIONS
from toolmd._parse.fields import table

ROOT = Path(__file__).parents[2]
_FOLDERS = ("tools_md", "skills_md", "plugins", "tests", "demo", "docs")
_TABLES = [held for held in vars(table).values() if isinstance(held, table.SectionTable)]
RESTRICTING = [
    (section, field)
    for section in (table.TOOL_METADATA, table.SAFETY, table.LIMITS)
    for field in section.fields
    if field.restricts or section.restricts
]
"""The fields of a tool that must be read or be an error."""

_REPLIES = (
    'Fine.\n\n[TOOL_CALL:{"id":"c","tool":"t","parameters":{"a":[1]},"confidence":0.9}] Done.',
    '[TOOL_CALL:{"tool":"t","parameters":{}}] and [TOOL_CALL:{"tool":"u","parameters":{}}]',
    '```json\n[TOOL_CALL:{"tool":"t","parameters":{}}]\n```\nbehind `[TOOL_CALL:` it',
    '> [TOOL_CALL:{"tool":"t","parameters":{}}]\n\n- 1. ~~~\n  Action: {}\n  ~~~\n',
    'Look.\n\nAction: {"tool":"t","args":{"a":"b"}}',
    'Look.\n\n```json\nAction: {"tool":"t","args":{}}\n```\n',
    'So:\n\n{"tool":"t","params":{"a":null}}',
    '{"calls":[{"tool":"t","params":{}}],"budget":{"rows":1,"bytes":2,"timeout_ms":3}}',
    '{"content":"Yes","tool_calls":[{"function":{"name":"t","arguments":"{\\"_confidence\\":1}"}}]}',
    '{"output":[{"type":"function_call","call_id":"c","name":"t","arguments":"{}"}]}',
    '{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"Hi"}}]}',
    '[{"type":"text","text":"Hi"},{"type":"tool_use","id":"c","name":"t","input":{"a":1}}]',
)
_WORDS_OF_REPLIES = (
    '[TOOL_CALL:{"tool":"t","parameters":{}}]',
    "[TOOL_CALL:",
    "Action:",
    '{"tool":"t","args":{}}',
    '{"tool":"t","params":{}}',
    '"_confidence":',
    '"confidence":',
    "```",
    "~~~",
    "\\ud800",
    *(f'"{word}"' for word in "tool parameters args params calls budget rows bytes".split()),
    *(f'"{word}"' for word in "role content tool_calls type function name arguments".split()),
    *(f'"{word}"' for word in "choices message output tool_use input text status".split()),
)
_EXPRESSIONS = (
    "size(slots) > 0 && slots.all(s, s.room < price)",
    "slots.sortBy(s, s.time).first().orValue(slot).time",
    "has(date) && !has(count) || has(loose)",
    "next_days(date, 3).map(d, d + ' 09:00').join(', ')",
    "timestamp(date + 'T00:00:00Z').getDayOfWeek() in [0, 6]",
    "lists.range(count).map(i, i * 2).filter(i, i % 3 == 0)",
    "{'a': slot, 'b': [1.5, null, true], 'c': '\\u0000'}",
    "[price].first().orValue(0.0) + math.greatest(1.0, 2)",
    "duration('90s') + duration('1h') > duration('5m')",
    "child_name.matches('^[a-z]+$') ? \"a\" : '\\\\d'",
    "slot.?time.orValue('') == loose['a']",
    "now - timestamp(0) > duration('0s')",
)
_WORDS_OF_EXPRESSIONS = """
    ? : .? ( ) [ ] { } . , true false null x ' \"
    1e308 9u 9223372036854775807 // slots slot date count price flag loose either
""".split()


def definitions() -> Iterator[tuple[str, bytes]]:
    """Yield the name and the bytes of each definition in the project, and of each case."""
    for folder in _FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.md")):
            if path.name.endswith((".tool.md", ".skill.md")):
                yield path.name, path.read_bytes()
    for path in sorted((ROOT / "tests" / "cases").glob("*.md")):
        kind = "skill" if "tool" not in path.name else "tool"
        for number, part in enumerate(path.read_text("utf-8").split("\n.\n")[1::3]):
            yield f"{path.stem}-{number}.{kind}.md", part.encode()


def of_parser() -> Iterator[bytes]:
    """Yield inputs of the parser's target: `T` or `S` and a file, or `R`, a key and a value."""
    for name, data in definitions():
        yield (b"T" if name.endswith(".tool.md") else b"S") + data
    for _, field in RESTRICTING:
        yield f"R{field.name}\n{field.choices[-1] if field.choices else 'true'}".encode()
        yield f"R{field.attribute}\n0.5".encode()


def of_replies() -> Iterator[bytes]:
    """Yield inputs of the replies' target: a byte for the dialect, and a reply."""
    for reply in _REPLIES:
        for number in range(len(DIALECTS)):
            yield bytes([number]) + reply.encode()


def of_expressions() -> Iterator[bytes]:
    """Yield inputs of the expressions' target: one expression each."""
    yield from (text.encode() for text in _EXPRESSIONS)
    spans = {
        span
        for _, data in definitions()
        for span in re.findall(r"(?<=[`{])[^`{}\n]{6,}(?=[`}])", data.decode(errors="replace"))
    }
    yield from (span.encode() for span in sorted(spans))


def words_of_parser() -> list[str]:
    """Return words with a meaning in a definition."""
    names = {name for section in _TABLES for name in (section.name, *section.aliases)}
    for section in _TABLES:
        for field in section.fields:
            names |= {*field.names, *field.choices}
    signs = (
        "**: \n## \n### \n- \n  - \n1. \n| |---| \n---\n ``` ` <!-- --> [ ] { } \\ \ufeff \u200b"
    )
    types = "string integer number boolean object array list[ optional | ? true false 10s 3/s 64KB"
    return sorted(names) + signs.split(" ") + types.split()


def words_of_replies() -> list[str]:
    """Return words with a meaning in a reply."""
    return list(_WORDS_OF_REPLIES)


def words_of_expressions() -> list[str]:
    """Return words with a meaning in an expression."""
    return [*_WORDS_OF_EXPRESSIONS, *FUNCTIONS]
