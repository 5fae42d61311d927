"""Write what restricts in a source as fields of its draft; `check` reads each of them."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from toolmd._import.names import one_line, tool_name
from toolmd._parse.fields.table import INVOCATION, SAFETY, TABLES
from toolmd._parse.words import fold, nearest
from toolmd._types.imported import RESTRICTION

Policy = tuple[str, Any]
"""A key of a source that restricts, and its value."""

_CONFIRMATION = next(one.name for one in SAFETY.fields if one.attribute == "requires_confirmation")
_FIELDS: dict[str, dict[str, tuple[str, str]]] = {
    "tool": {
        key: (table.name, field.name)
        for table in TABLES["tool"]
        if not table.children
        for key, field in table.by_key.items()
        if field.restricts and key != "context"
    },
    "skill": {
        key: ("Metadata", field.name)
        for key, field in TABLES["skill"][0].by_key.items()
        if field in INVOCATION
    },
}
"""The restricting fields of each kind of definition, by every folded name: section and name.

Without `context`: in other formats it is where a skill runs, or a text for the model.
"""
for _key in ("Needs Approval", "Requires Approval", "Require Approval", "Approval Required",
             "Human Approval", "Requires Human Approval"):  # fmt: skip
    _FIELDS["tool"][fold(_key)] = (SAFETY.name, _CONFIRMATION)
_FOREIGN = frozenset(
    map(
        fold,
        (
            "allow network",
            "denied tools",
            "permissions",
            "permission mode",
            "max turns",
            "approvals",
        ),
    )
)
"""Keys that restrict in other hosts' files, and that no field expresses."""
_SURE = 8
"""A name of this many letters is also found if it is misspelt."""
_SCHEMAS = frozenset(("properties", "$defs", "definitions", "schemas", "parameters", "items"))
"""The keys below which keys are names of values."""
_MOST_LEVELS = 16


def field_of(key: str, kind: str = "tool") -> tuple[str, str] | None:
    """Return the section and the name of the restricting field that a key names or misspells.

    Both are empty for a key that restricts and that no field of this kind expresses.
    """
    folded = fold(key)
    own = _FIELDS[kind]
    if folded in own:
        return own[folded]
    if folded in _FOREIGN or folded in _FIELDS["tool"]:
        return "", ""
    long = sorted(name for name in {*own, *_FIELDS["tool"], *_FOREIGN} if len(name) >= _SURE)
    return ("", "") if len(folded) >= _SURE and nearest(folded, long) else None


def restricting(value: Any, kind: str = "tool", level: int = 0) -> Iterator[Policy]:
    """Yield each key that restricts in a JSON value, at any depth, and its value."""
    if isinstance(value, list) and level < _MOST_LEVELS:
        for one in value:
            yield from restricting(one, kind, level + 1)
    if not isinstance(value, Mapping) or level >= _MOST_LEVELS:
        return
    for key, one in value.items():
        if one is not None and field_of(str(key), kind) is not None:
            yield str(key), one
        elif key not in _SCHEMAS:
            yield from restricting(one, kind, level + 1)


def policy_of(
    around: Mapping[str, Any], names: Iterable[str]
) -> tuple[dict[str, list[Policy]], dict[str, Any]]:
    """Return what a document says beside its tools: the policy of each, and all other keys.

    A restricting key that belongs to no tool by its name restricts each of them.

    Args:
        around: The document without its tools.
        names: The names of its tools.
    """
    policy: dict[str, list[Policy]] = {name: [] for name in names}
    rest: dict[str, Any] = {}
    for key, value in around.items():
        by_tool = value if isinstance(value, Mapping) else {}
        own = {tool_name(str(one)): said for one, said in by_tool.items()}
        if not policy.keys() & own.keys():
            own = {name: {key: value} for name in policy}
        for name, said in own.items():
            found = list(restricting(said))
            policy.get(name, []).extend(found)
            if name not in policy or not isinstance(said, Mapping) or found != [*said.items()]:
                rest[key] = value
    return policy, rest


def write_policy(text: str, policy: Iterable[Policy], kind: str = "tool") -> str:
    """Write each key as its field, and what no field expresses as a line that `check` rejects.

    Args:
        text: The canonical text of a draft.
        policy: The keys and values of its source.
        kind: `tool` or `skill`.
    """
    number = 0
    for key, value in dict.fromkeys((key, _text(value)) for key, value in policy):
        section, name = field_of(key, kind) or ("", "")
        line = f"- **{name}**: {value}\n"
        if section and line in text:
            continue
        if not section or f"\n- **{name}**: " in text:
            number += 1
            section = "Metadata"
            line = f"- **{RESTRICTION} {number}**: {one_line(f'{key} {value}')}\n"
        heading = re.search(rf"^## {section}\n\n?", text, re.MULTILINE)
        if heading is not None:
            text = f"{text[: heading.end()]}{line}{text[heading.end() :]}"
        else:
            text = f"{text.rstrip()}\n\n## {section}\n\n{line}"
    return text


def _text(value: Any) -> str:
    if isinstance(value, list) and value and all(isinstance(one, str | int) for one in value):
        return ", ".join(map(_text, value))
    if isinstance(value, str) and value.strip():
        return one_line(value)
    return json.dumps(value, ensure_ascii=False, default=str)
