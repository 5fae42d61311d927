"""A public SKILL.md becomes a skill whose workflow is its prose."""

from toolmd._import import read_source
from toolmd._parse import format_text, parse_skill
from toolmd._types.skill import SkillSpec
from toolmd.importing import Imported

PLAIN = """---
name: pdf-forms
description: Fill in PDF forms. Use when the user has one.
license: Apache-2.0
allowed-tools: Bash Read
metadata:
  author: someone
  version: "1.2"
---

# PDF forms

Look at the form first.

## Steps

1. Read the fields.
2. Fill them in.

## Troubleshooting

### It fails

Look at the log.
"""


def read(text: str, name: str = "pdf-forms/SKILL.md") -> Imported:
    return read_source("agentskills", text, name)


def skill(text: str, name: str = "pdf-forms/SKILL.md") -> SkillSpec:
    (draft,) = read(text, name).drafts
    path = f"{draft.name.replace('_', '-')}.skill.md"
    spec, found = parse_skill(draft.text, path)
    assert spec is not None, found
    assert format_text(draft.text, path) == draft.text
    return spec


def test_front_matter_and_body_find_their_places() -> None:
    spec = skill(PLAIN)

    assert (spec.name, spec.title, spec.version) == ("pdf_forms", "PDF forms", "1.2")
    assert spec.description == "Fill in PDF forms. Use when the user has one."
    assert spec.workflow == "Look at the form first."
    assert [s.title for w in spec.workflow_sections for s in w.steps] == [
        "Read the fields.",
        "Fill them in.",
    ]
    assert not spec.executable
    assert spec.sections["Troubleshooting"].endswith("Look at the log.")
    assert "license: Apache-2.0" in spec.sections["About"]


def test_a_hosts_grant_is_noted_and_not_kept() -> None:
    made = read(PLAIN)

    assert any("allowed-tools" in note.text for note in made.notes)
    assert "Bash" not in made.drafts[0].text


def test_a_list_that_only_looks_like_steps_stays_prose() -> None:
    spec = skill(
        PLAIN.replace("1. Read the fields.", "1. Read.\n   - Use: the script\n   - Way: a")
    )

    assert spec.workflow == "Follow the instructions below."
    assert "Use: the script" in spec.sections["Instructions"]


def test_without_front_matter_title_and_folder_give_the_name() -> None:
    assert skill("# Make tea\n\nBoil water first.\n\nThen wait.\n").name == "make_tea"
    assert skill("Boil water first.\n", "make-tea/SKILL.md").name == "make_tea"


def test_inputs_that_are_typed_become_the_input_schema() -> None:
    text = PLAIN + "\n## Inputs\n\n- `form` (string, required): Which form\n"
    (one,) = skill(text).parameters

    assert (one.name, one.required, one.shape.description) == ("form", True, "Which form")


def test_inputs_in_prose_stay_prose() -> None:
    spec = skill(PLAIN + "\n## Inputs\n\nWhatever the user hands you.\n")

    assert spec.parameters == ()
    assert "Whatever the user hands you." in "".join(spec.sections.values())


def test_headings_that_are_sections_of_ours_do_not_become_them() -> None:
    spec = skill(PLAIN + "\n## Metadata\n\n- **Name**: other\n\n## Returns\n\nNothing.\n")

    assert spec.name == "pdf_forms"
    assert {"Metadata notes"} <= spec.sections.keys()


def test_a_name_without_letters_is_rejected() -> None:
    made = read("---\nname: '123'\ndescription: x\n---\n")

    assert made.drafts == ()
    assert "no letter" in made.refused[0].text
