"""`test`: the examples of the files, tried; what runs for real, and where."""

import json

import pytest
from tests.definitions import tool

WORD = "- **word** (string, required): A word\n  - **Max Length**: 10"
SAY = """
from toolmd.errors import ToolError


def say(word, *, context):
    if word == "damn":
        raise ToolError("We do not say that.", code="rude")
    return {"said": word, "length": len(word)}
"""
GUARD = """
## Safety

- **Min Confidence**: 0.9
- **Requires Confirmation**: true
- **Sensitivity**: critical
- **Explicit Intent**: true
- **Intent Keywords**: say, tell
"""
AUTH = "- **Requires Auth**: true\n- **Requires Patient Context**: true\n"


def example(title, arguments, *, result=None, error=""):
    text = f"\n### {title}\n\n```json\n{arguments}\n```\n"
    if result is not None:
        text += f"\n```json\n{result}\n```\n"
    return text + (f"\n- **Error**: {error}\n" if error else "")


@pytest.fixture
def project(console):
    """Give what writes a project of one tool, `say`, with these examples."""

    def make(*examples, metadata="", safety="", python=SAY):
        more = f"{safety}\n## Examples\n{''.join(examples)}"
        text = tool("say", WORD, more, metadata=metadata)
        console.write("toolmd.toml", 'tools = ["tools_md"]\nskills = []\n')
        console.write("tools_md/say.tool.md", text)
        console.write("tools_md/say.py", python)
        return console

    return make


def tried(console, *names):
    typed = console("test", *names, "--json")
    return [(one["passed"], one["how"]) for one in json.loads(typed.out)], typed.code


MIXED = (
    example("A plain word", '{"word": "hello"}'),
    example("What it gives", '{"word": "hello"}', result='{"length": 5, "said": "hello"}'),
    example("Too long", '{"word": "hello, world"}', error="invalid_arguments"),
    example("A rude word", '{"word": "damn"}', error="rude"),
)


def test_each_example_runs_as_far_as_it_says(project):
    assert tried(project(*MIXED)) == (
        [(True, "validated"), (True, "called"), (True, "validated"), (True, "called")],
        0,
    )


FAILING = (
    example("Too long a word", '{"word": "hello, world"}'),
    example("Not what it gives", '{"word": "hello"}', result='{"said": "hello"}'),
    example("True is no number", '{"word": "a"}', result='{"said": "a", "length": true}'),
    example("No error at all", '{"word": "hello"}', error="rude"),
    example("Another error", '{"word": "damn"}', error="tool_error"),
    example("A result that fails", '{"word": "damn"}', result='{"said": "damn", "length": 4}'),
)


def test_a_failed_example_shows_the_actual_result(project, as_golden):
    typed = project(*FAILING)("test")
    as_golden(f"{typed.out}--\n{typed.err}", "examples.txt")
    assert typed.code == 1


POLICY = ("auth_required", "context_required", "missing_confidence", "low_confidence",
          "confirmation_required")  # fmt: skip


def test_the_caller_passes_every_check_unless_the_example_expects_a_caller_error(project):
    examples = [
        example("What it gives", '{"word": "hello"}', result='{"length": 5, "said": "hello"}'),
        *(example(code, '{"word": "hello"}', error=code) for code in POLICY),
    ]
    assert tried(project(*examples, metadata=AUTH, safety=GUARD)) == (
        [(True, "called"), *[(True, "validated")] * len(POLICY)],
        0,
    )


ESCALATED = """
## Safety

- **Crisis When**: word == "now"
"""


def test_an_example_expects_a_pending_call_by_its_code(project):
    held = example("Now", '{"word": "now"}', error="review_required")
    assert tried(project(held, safety=ESCALATED)) == ([(True, "validated")], 0)


APPROVED = """
## Approval

- **When**: always
- **By**: manager
"""


def test_an_example_expects_an_approval_by_its_code(project):
    held = [
        example(f"N{n}", '{"word": "now"}', error=f"{n}_required") for n in ("approval", "review")
    ]
    (first, second), _ = tried(project(*held, safety=APPROVED))
    assert (first, second) == ((True, "validated"), (False, "validated"))


def test_an_example_that_expects_a_confirmation_never_runs_the_tool(project):
    python = "def say(word, *, context): open(word, 'w')"
    console = project(
        example("ConfirmationRequest", '{"word": "ran"}', error="review_required"),
        example("Confirmed", '{"word": "ran"}', error="confirmation_required"),
        example("The other hold", '{"word": "now"}', error="confirmation_required"),
        safety=ESCALATED,
        python=python,
    )
    said = [one["message"] for one in json.loads(console("test", "--json").out)]
    assert said == [
        "expected the error review_required, got none: the call may run",
        "expected the error confirmation_required, got none: the call may run",
        "expected the error confirmation_required, got review_required",
    ]
    assert not (console.folder / "ran").exists()


def test_an_unknown_error_of_a_pending_call_names_the_code_to_expect(project):
    console = project(example("Now", '{"word": "now"}', error="human"), safety=ESCALATED)
    assert (
        console("test")
        .out.splitlines()[1]
        .endswith("; it waits for a person, which the error review_required expects")
    )


def test_the_patient_of_an_example_is_the_one_in_its_arguments(project):
    whose = "context.facts.get('patient')"
    python = f"def say(word, patient_id=None, *, context): return {{'patient': {whose}}}"
    named = example("Named", '{"word": "a", "patient_id": "p7"}', result='{"patient": "p7"}')
    console = project(named, metadata=AUTH, python=python)
    file = console.folder / "tools_md/say.tool.md"
    text = file.read_text("utf-8")
    parameter = "### patient_id\n\n- **Type**: string\n- **Description**: Whom\n\n"
    file.write_text(text.replace("## Returns", f"{parameter}## Returns"), "utf-8")
    assert tried(console) == ([(True, "called")], 0)


def test_each_runs_in_a_state_folder_of_its_own_and_never_in_the_projects(project):
    python = (
        "from .plugin import Notes\n\n\n"
        "def say(word, *, notes: Notes):\n"
        "    with notes.file.open('a') as file: file.write(word)\n"
        "    return {'kept': notes.file.read_text()}\n"
    )
    twice = [example(t, '{"word": "a"}', result='{"kept": "a"}') for t in ("Once", "Again")]
    console = project(*twice, example("Dry", '{"word": "b"}'), python=python)
    console.write(
        "tools_md/plugin.py",
        "from pathlib import Path\n"
        "from toolmd import hookimpl\n\n\n"
        "class Notes:\n"
        "    def __init__(self, file): self.file = file\n\n\n"
        "@hookimpl\n"
        "def toolmd_resources(registry, settings):\n"
        "    registry.register_value(Notes, Notes(Path(settings.state) / 'notes.txt'))\n",
    )
    assert tried(console) == ([(True, "called"), (True, "called"), (True, "validated")], 0)
    assert not (console.folder / ".toolmd").exists()


def test_a_file_that_cannot_be_read_fails(project):
    console = project(example("A word", '{"word": "a"}'))
    console.write("tools_md/broken.tool.md", "# Broken\n")
    typed = console("test")
    assert "FAIL  tools_md/broken.tool.md" in typed.out
    assert typed.code == 1
    assert console("test", "say").code == 0


def test_an_example_that_cannot_be_read_fails(project):
    console = project(example("A word", '{"word": '), example("Fine", '{"word": "a"}'))
    typed = console("test")
    assert "FAIL  say" in typed.out
    assert "ok    say: Fine" in typed.out
    assert typed.code == 1


def test_names_choose_the_tools(project):
    console = project(*MIXED)
    assert len(tried(console, "say")[0]) == 4
    typed = console("test", "sya")
    assert (typed.out, typed.code) == ("", 5)
    assert "say" in typed.err


def test_a_skill_has_no_examples(shop):
    typed = shop("test", "make-bouquet")
    assert "is a skill" in typed.err
    assert typed.code == 5


def test_missing_examples_are_reported(project):
    typed = project()("test")
    assert (typed.out, typed.code) == ("", 0)
    assert typed.err.startswith("There are no examples. Write some below `## Examples`")


def test_a_tool_without_python_is_validated(project):
    console = project(example("A word", '{"word": "a"}'))
    (console.folder / "tools_md/say.py").unlink()
    assert tried(console) == ([(True, "validated")], 0)
