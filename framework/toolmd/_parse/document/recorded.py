"""Record the tools, skills and parameters that the Metadata names."""

from toolmd._parse.document.definition import Definition
from toolmd._parse.fields.entries import Entry, item_entry
from toolmd._parse.words.keys import plain
from toolmd._parse.words.scalars import listed
from toolmd._types.operation import read_operation

_CALLEES = frozenset(("required_tools", "required_skills", "allowed_tools", "disallowed_tools"))


def record_names(definition: Definition, attribute: str, entry: Entry) -> None:
    """Record the tools, skills and parameters that a field names."""
    page = definition.page
    if attribute in _CALLEES:
        at = entry.value
        for word in [] if entry.listed is not None else listed(entry.text):
            at = page.mark(word, at.line, at.column)
            page.named("definition", name_of(word), at)
            at = at._replace(column=at.column + len(word))
        for mark in [*(entry.listed or ()), *(item.mark for item in entry.items)]:
            page.named("definition", name_of(mark.text), mark)
    elif attribute in {"context", "patient_from"} and definition.kind == "skill":
        for words in map(str.split, listed(entry.text)):
            page.named("parameter", plain(words[-1]), page.mark(words[-1], *entry.value[1:]))
    elif attribute == "schedule_inputs":
        for key in [one.key for item in entry.items if (one := item_entry(item)) is not None]:
            page.named("parameter", plain(key.text), key)
    elif attribute == "implemented_by" and (said := read_operation(plain(entry.text))) is not None:
        for name in said.placeholders:
            page.named("parameter", name, page.mark(f"{{{name}}}", *entry.value[1:]))


def name_of(word: str) -> str:
    """Return the name in an entry of a list: `Bash` of `Bash(git:*)`."""
    return plain(word.partition("(")[0]).replace("-", "_")
