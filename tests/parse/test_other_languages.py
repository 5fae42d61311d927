"""A section, field or value in German, French or Spanish is reported, never silently prose."""

import pytest

from toolmd._parse import parse_skill, parse_tool

BODY = """\
# Book Visit

Book a visit.

## Metadata

- **Name**: book_visit
- **Version**: 1.0.0
- **Category**: visits

## Parameters

### day

- **Type**: string
{field}
## Returns

- **Type**: object
- **Description**: The visit

{below}
"""


def read(below="", field="", replaced=("", "")):
    text = BODY.format(below=below, field=f"{field}\n" if field else "").replace(*replaced)
    return text, *parse_tool(text, "book_visit.tool.md")


def told(diagnostics):
    return [(d.severity, d.code, d.help) for d in diagnostics]


def mended(text, diagnostics):
    lines = text.split("\n")
    edits = [edit for d in diagnostics for edit in d.fix]
    for edit in sorted(edits, key=lambda e: (e.line, e.column), reverse=True):
        line = lines[edit.line - 1]
        lines[edit.line - 1] = line[: edit.column - 1] + edit.text + line[edit.end_column - 1 :]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("written", "english"),
    [
        ("## Sicherheit\n\n- **Bestätigung erforderlich**: ja", "Requires Confirmation: yes"),
        ("## Sécurité\n\n- **Confirmation requise** : oui", "Requires Confirmation: yes"),
        ("## Seguridad\n\n- **Requiere confirmación**: sí", "Requires Confirmation: yes"),
        ("## Safety\n\n- **Bestaetigung**: Ja", "Requires Confirmation: yes"),
        ("### Sicherheit\n\n* Sensibilität: high", "Sensitivity: high"),
        ("## Grenzen\n\n- **Zeitlimit**: 5s", "Timeout: 5s"),
        ("## LIMITES\n\n| Champ | Valeur |\n|---|---|\n| Délai maximal | 5s |", "Timeout: 5s"),
        ("## Límites\n\n**Llamadas máximas**: 3", "Max Calls: 3"),
    ],
)
def test_a_restriction_in_another_language_is_an_error_whose_fix_is_the_english_one(
    written, english
):
    text, spec, found = read(written)
    assert spec is None
    assert all(d.fix for d in found if d.severity == "error"), told(found)
    key, value = english.split(": ")
    section = "Safety" if key in {"Requires Confirmation", "Sensitivity"} else "Limits"
    _, canonical, _ = read(f"## {section}\n\n- **{key}**: {value}")
    repaired, left = parse_tool(mended(text, found), "book_visit.tool.md")
    assert left == ()
    assert repaired is not None
    assert canonical is not None
    assert repaired.hash == canonical.hash


@pytest.mark.parametrize(
    ("field", "english"),
    [
        ("- **Pflicht**: ja", "- **Required**: yes"),
        ("- Obligatoire: oui", "- **Required**: yes"),
        ("- **Requerido**: sí", "- **Required**: yes"),
        ("- **Erforderlich**", "- **Required**: yes"),
        ("- **Vertraulich**: wahr", "- **Sensitive**: yes"),
        ("- **Required**: nein", "- **Required**: no"),
    ],
)
def test_a_restricting_field_of_a_parameter_is_an_error_with_a_fix(field, english):
    text, spec, found = read(field=field)
    assert spec is None, told(found)
    repaired, left = parse_tool(mended(text, found), "book_visit.tool.md")
    assert left == ()
    _, canonical, _ = read(field=english)
    assert repaired is not None
    assert canonical is not None
    assert repaired.hash == canonical.hash


@pytest.mark.parametrize(
    ("field", "english"),
    [
        ("- **Max. Länge**: 10", "- **Max Length**: 10"),
        ("- **Valeurs possibles**: a, b", "- **Enum**: a, b"),
        ("- **Descripción**: string", "- **Description**: string"),
        ("- **Beschreibung**: Der Tag", "- **Description**: Der Tag"),
    ],
)
def test_any_other_field_is_read_with_a_warning(field, english):
    _, spec, found = read(field=field)
    assert [d.code for d in found] == ["misspelt-field"]
    _, canonical, _ = read(field=english)
    assert spec is not None
    assert canonical is not None
    assert spec.hash == canonical.hash


def test_a_table_with_columns_in_another_language_is_read_with_one_report_for_each_head():
    rows = (
        "| Nombre | Tipo | Requerido | Descripción |\n|---|---|---|---|\n| day | string | sí | D |"
    )
    text, spec, found = read(replaced=("### day\n\n- **Type**: string", rows))
    assert spec is None
    assert [d.span.line for d in found if d.code != "unreadable-value"] == [13] * 3
    repaired, left = parse_tool(mended(text, found), "book_visit.tool.md")
    assert left == ()
    assert repaired is not None
    assert repaired.parameters[0].required


@pytest.mark.parametrize(
    ("title", "written"),
    [("Metadata", "Metadaten"), ("Returns", "Rückgabe"), ("Parameters", "Paramètres")],
)
def test_a_section_without_restrictions_is_read_with_a_warning(title, written):
    text, spec, found = read(replaced=(f"## {title}", f"## {written}"))
    assert [(d.code, d.help) for d in found] == [("misspelt-section", f"write '{title}'")]
    assert spec is not None
    assert parse_tool(mended(text, found), "book_visit.tool.md")[1] == ()


@pytest.mark.parametrize(
    "prose",
    [
        "## Sicherheit\n\nDer Tag steht im Kalender der Praxis.",
        "## Regeln\n\n- Montags ist geschlossen",
        "## Hinweise\n\n- Pflicht: ja, sagt die Kasse\n- Werte stehen in der Akte",
        "## Beispiele aus der Praxis\n\nEin Tag im Mai.",
        "## Notes\n\n- Sensible data stays in the clinic\n- Format: as in the calendar",
    ],
)
def test_prose_in_another_language_is_kept_without_a_word(prose):
    _, spec, found = read(prose)
    assert told(found) == []
    assert spec is not None


@pytest.mark.parametrize("key", ["Bestätigung erforderlich", "Confirmación requerida"])
def test_a_marked_restriction_in_a_free_section_is_an_error(key):
    _, spec, found = read(f"## Hinweise\n\n- **{key}**: sí")
    assert spec is None
    assert [d.code for d in found] == ["misplaced-field"]
    assert "Requires Confirmation" in found[0].help


def test_fields_of_an_object_keep_their_names_in_another_language():
    fields = "- **Properties**:\n  - tipo: string\n  - descripcion: string\n  - pflicht: boolean"
    _, spec, found = read(field=fields, replaced=("Type**: string", "Type**: object"))
    assert told(found) == []
    assert spec is not None
    names = [one.name for one in spec.parameters[0].shape.properties]
    assert names == ["tipo", "descripcion", "pflicht"]


SKILL = """\
# Plan Visit

Plan a visit.

## Metadata

- **Name**: plan_visit
- **Version**: 1.0.0
- **Category**: visits

## Workflow

1. **Return**:
   - day: `day`

## {inputs}

### day

- **Type**: string

## {outputs}

- **Type**: object
"""


@pytest.mark.parametrize("inputs", ["Paramters", "Eingaben", "Paramètres", "Argumets"])
def test_a_near_title_of_a_skill_is_read_as_the_section_with_a_warning(inputs):
    spec, found = parse_skill(SKILL.format(inputs=inputs, outputs="Output Schema"), "plan_visit.md")
    assert spec is not None
    assert [(d.code, d.span.line) for d in found] == [("misspelt-section", 16)]


def test_a_missing_section_is_reported_at_the_title_closest_to_it_with_a_fix():
    text = SKILL.format(inputs="Inputs", outputs="The Outputs Schema")
    spec, found = parse_skill(text, "plan_visit.skill.md")
    assert spec is None
    (missing,) = [d for d in found if d.code == "missing-section"]
    assert missing.span.line == 22
    assert parse_skill(mended(text, [missing]), "plan_visit.skill.md")[1] == ()
