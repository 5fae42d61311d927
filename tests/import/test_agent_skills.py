"""A public SKILL.md becomes a skill whose workflow is its prose."""

import pytest

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


def test_front_matter_that_restricts_becomes_fields() -> None:
    spec = skill(
        "---\nname: deploy\ndescription: Deploy.\ndisable-model-invocation: true\n"
        "user-invocable: false\nallowed-tools: Bash(git add:*) Read\n"
        "disallowedTools: [Write, Edit]\n---\nDeploy it.\n"
    )

    assert (spec.model_invocation, spec.user_invocable) == (False, False)
    assert spec.allowed_tools == ("Bash(git add:*)", "Read")
    assert spec.disallowed_tools == ("Write", "Edit")


def test_flags_that_restrict_nothing_leave_no_field() -> None:
    text = PLAIN.replace(
        "license:", "disable-model-invocation: false\nuser-invocable: true\nlicense:"
    )

    assert skill(text).hash == skill(PLAIN).hash


def test_an_agents_tools_are_its_allowed_tools() -> None:
    text = "---\nname: reviewer\ndescription: Reviews.\ntools: Read, Grep\nmodel: x\n---\nReview.\n"
    spec = skill(text, "reviewer.md")

    assert spec.allowed_tools == ("Read", "Grep")
    assert "model: x" in spec.sections["About"]


def test_the_inputs_of_a_prompty_file_become_the_input_schema() -> None:
    text = (
        "---\nname: qa\ndescription: Answers.\ninputs:\n  question:\n    type: string\n"
        "    required: true\n    description: What is asked\n  depth: integer\n---\nAnswer.\n"
    )
    question, depth = skill(text, "qa.prompty").parameters

    assert (question.name, question.required, question.shape.types) == (
        *("question", True, ("string",)),
    )
    assert (depth.name, depth.required, depth.shape.types) == ("depth", False, ("integer",))


def test_the_text_of_a_prompty_file_stays_as_it_is() -> None:
    body = "system:\nYou help people.\n\n# Customer\nTalk to {{name}}.\n\n## Parameters\nNo field."
    text = f"---\nname: greet\ninputs:\n  - name: name\n    kind: string\n---\n{body}\n"
    spec = skill(text, "greet.prompty")

    assert (spec.title, spec.description) == ("Greet", "Greet.")
    assert [one.name for one in spec.parameters] == ["name"]
    (draft,) = read_source("agentskills", text, "greet.prompty").drafts
    assert f"```\n{body}\n```" in draft.text


@pytest.mark.parametrize(
    "line",
    [
        "allow_network: false",
        "requires-confirmation: true",
        "max-turns: 3",
        "disable-model-invocation: perhaps",
        "disable-model-invocaton: true",
        "name: again\ndisable-model-invocation: true",
        "model: &m x\nother: *m",
    ],
)
def test_a_restriction_that_no_field_holds_fails_until_somebody_decides(line: str) -> None:
    made = read(PLAIN.replace("license: Apache-2.0", line))
    spec, found = parse_skill(made.drafts[0].text, "pdf-forms.skill.md")

    assert spec is None
    assert [d.severity.value for d in found if d.severity.value == "error"] == ["error"]
    assert any("`check` fails" in note.text for note in made.notes)


@pytest.mark.parametrize("key", ["model", "argument-hint", "effort", "color", "hooks"])
def test_every_other_key_of_the_front_matter_is_kept_as_prose(key: str) -> None:
    assert (
        f"- {key}: 'or so"
        in skill(PLAIN.replace("license: ", f'{key}: "\'or so" # ')).sections["About"]
    )


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


def test_a_name_without_letters_gives_way_to_the_folders() -> None:
    text = "---\nname: '123'\ndescription: x\n---\n"
    assert skill(text).name == "pdf_forms"
    made = read(text, "456/SKILL.md")

    assert made.drafts == ()
    assert "no letter" in made.refused[0].text


def test_a_word_of_a_step_in_prose_stays_prose() -> None:
    text = PLAIN + "\n## Gates\n\n- **CHECK:** `references/checks.md`: what to look at\n"

    assert "references/checks.md" in skill(text).sections["Gates"]


def test_an_empty_list_of_tools_fails_until_somebody_decides() -> None:
    (draft,) = read("---\nname: tie\ndescription: Tie it.\ntools: []\n---\n\nTie.\n").drafts

    assert "- **Restriction 1**: the list of tools is empty: no tool may be used\n" in draft.text
    assert parse_skill(draft.text, "tie.skill.md")[0] is None


@pytest.mark.parametrize("line", ["# version: 7", "inputs:\n  name:\n    example: Jane"])
def test_a_line_that_no_part_of_the_skill_keeps_is_noted(line: str) -> None:
    found = read(f"---\nname: tie\ndescription: Tie it.\n{line}\n---\n\n## Steps\n\n1. Tie.\n")

    assert [note.text for note in found.notes if note.text.startswith("not kept")] == [
        f'not kept: "{line.rsplit(chr(10), maxsplit=1)[-1].strip()}"'
    ]


def test_inputs_and_tools_as_lists_of_maps_are_read_by_their_names() -> None:
    text = (
        "---\nname: greet\ninputs:\n  - name: firstName\n    kind: string\n    default: Jane\n"
        "  - name: age\n    kind: integer\n    default: 5\n    required: true\n"
        "tools:\n  - name: get_weather\n    kind: function\n---\nsystem:\nSay hello.\n\n"
        "# Customer\n\nHe is {{firstName}}.\n"
    )
    read = skill(text)
    first, age = read.parameters
    assert (first.name, first.shape.default, first.required) == ("firstName", "Jane", False)
    assert (age.shape.types, age.shape.default, age.required) == (("integer",), 5, True)
    assert read.allowed_tools == ("get_weather",)
    assert (read.title, read.sections["Customer"]) == ("Greet", "He is {{firstName}}.")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("create-readme.prompt.md", "create_readme"),
        ("csharp.instructions.md", "csharp"),
        ("skills/deploy/SKILL.md", "role"),
        ("SKILL.md", "role"),
    ],
)
def test_a_file_without_a_name_in_its_front_matter_gives_its_own(path: str, name: str) -> None:
    (draft,) = read_source("agentskills", "# Role\n\nDo this.\n", path).drafts
    assert draft.name == name


@pytest.mark.parametrize(
    "line",
    [
        "disable-model-invocation: true", "disableModelInvocation: true",
        "Disable_Model_Invocation: on", "user-invocable: false", "allowed-tools: Read # ro",
        "AllowedTools: [Read]",
    ],
)  # fmt: skip
@pytest.mark.parametrize("before", ["", "\n\n"])
def test_no_note_says_that_a_restriction_is_lost_which_the_draft_has(
    line: str, before: str
) -> None:
    text = f"{before}---\nname: deploy\ndescription: D.\n{line}\n---\n# Deploy\n\nDo it.\n"
    read = read_source("agentskills", text, "deploy/SKILL.md")
    assert not [note.text for note in read.notes if "not kept" in note.text]
    spec, _ = parse_skill(read.drafts[0].text, "deploy.skill.md")
    assert spec is not None


def test_one_key_in_two_spellings_fails_until_somebody_decides() -> None:
    text = "---\nname: d\ndescription: D.\nallowed-tools: Read\nallowedTools: Bash\n---\nDo it.\n"
    read = read_source("agentskills", text, "d/SKILL.md")
    assert parse_skill(read.drafts[0].text, "d.skill.md")[0] is None
