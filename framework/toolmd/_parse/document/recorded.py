"""Record the places of the Metadata's values, and the definitions and parameters they name."""

from toolmd._parse.document.definition import Definition
from toolmd._parse.fields.entries import Entry, item_entry
from toolmd._parse.source.page import Mark
from toolmd._parse.words.keys import plain
from toolmd._parse.words.scalars import listed
from toolmd._types.operation import read_operation

_CALLEES = frozenset(("required_tools", "required_skills", "allowed_tools", "disallowed_tools"))


def record_places(definition: Definition, attribute: str, entry: Entry) -> None:
    """Record where a field's value and each name in it stand, and the tools and inputs it names."""
    page, at = definition.page, entry.value
    definition.places[attribute] = entry.mark.place
    marks: list[Mark] = []
    for word in [] if entry.listed is not None else listed(entry.text):
        marks.append(page.mark(word, at.line, at.column))
        at = at._replace(column=marks[-1].column + len(word))
    for mark in (*marks, *(entry.listed or ()), *(item.mark for item in entry.items)):
        name = plain(mark.text.partition("(")[0]).replace("-", "_")  # `Bash` of `Bash(git:*)`
        definition.places[f"{attribute}/{name}"] = mark.place
        if attribute in _CALLEES:
            page.named("definition", name, mark)
    if attribute in {"context", "patient_from"} and definition.kind == "skill":
        for words in map(str.split, listed(entry.text)):
            page.named("parameter", plain(words[-1]), page.mark(words[-1], *entry.value[1:]))
    elif attribute == "schedule_inputs":
        for key in [one.key for item in entry.items if (one := item_entry(item)) is not None]:
            page.named("parameter", plain(key.text), key)
    elif attribute == "implemented_by" and (said := read_operation(plain(entry.text))) is not None:
        for name in said.placeholders:
            page.named("parameter", name, page.mark(f"{{{name}}}", *entry.value[1:]))
