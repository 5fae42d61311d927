"""Prompts and completion over MCP: arguments are validated, and values are offered."""

from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp_clients import over

from toolmd import Workspace

LETTER = r"""# Write a Letter

Writes a letter to a patient.

## Arguments

### patient

- **Type**: string
- **Required**: true
- **Description**: Whom it is for
- **Max Length**: 20

### tone

- **Type**: string
- **Enum**: warm, plain
- **Default**: plain

### pages

- **Type**: integer
- **Minimum**: 1

### formal

- **Type**: boolean

## Prompt

Write to {patient} in a {tone} tone. Pages: { pages }. Formal: {formal}.

### Form

Keep \{signature} and {"json": 1} as they are.
"""
LINES = LETTER.split("\n")


@pytest.fixture
def workspace(project: Path) -> Any:
    skills = project / "skills_md"
    (skills / "write-letter.prompt.md").write_text(LETTER)
    plan = skills / "plan-a-day.skill.md"
    inputs = "## Input Schema\n\n### day\n\n- **Type**: string\n- **Required**: true"
    plan.write_text(plan.read_text().replace("## Input Schema\n\nNone", inputs))
    (skills / "plan-a-day" / "references").mkdir(parents=True)
    (skills / "plan-a-day" / "references" / "hints.md").write_text("Eat.")
    with Workspace.open(project) as opened:
        assert "write_letter" in opened.registry.prompts, opened.registry.diagnostics
        yield opened


def text(workspace: Workspace, mode: str, name: str, arguments: dict[str, str]) -> str:
    async def use(client: Client) -> str:
        (message,) = (await client.get_prompt(name, arguments)).messages
        assert message.role == "user"
        return str(message.content.text)

    return str(over(workspace, mode, use))


def denied(workspace: Workspace, mode: str, name: str, arguments: dict[str, str]) -> MCPError:
    async def use(client: Client) -> MCPError:
        with pytest.raises(MCPError) as caught:
            await client.get_prompt(name, arguments)
        return caught.value

    error: MCPError = over(workspace, mode, use)
    assert error.code == -32602
    return error


def values(
    workspace: Workspace, mode: str, ref: Any, name: str, typed: str = "", **options: Any
) -> list[str]:
    async def use(client: Client) -> list[str]:
        argument = {"name": name, "value": typed}
        return list((await client.complete(ref, argument, **options)).completion.values)

    user = options.pop("user", "ana")
    return list(over(workspace, mode, use, user))


def test_files_and_skills_without_steps_are_prompts(workspace: Workspace, mode: str) -> None:
    async def use(client: Client) -> list[Any]:
        return list((await client.list_prompts()).prompts)

    prompts = {prompt.name: prompt for prompt in over(workspace, mode, use)}

    assert list(prompts) == ["plan_a_day", "write_letter"]
    letter = prompts["write_letter"]
    assert (letter.title, letter.description) == ("Write a Letter", "Writes a letter to a patient.")
    assert [(one.name, one.required) for one in letter.arguments] == [
        ("patient", True), ("tone", False), ("pages", False), ("formal", False),
    ]  # fmt: skip


def test_arguments_stand_in_the_text_with_defaults_and_are_inserted_once(
    workspace: Workspace, mode: str
) -> None:
    said = text(workspace, mode, "write_letter", {"patient": "{tone}", "formal": "yes"})

    assert said.startswith("Write to {tone} in a plain tone. Pages: . Formal: true.")
    assert said.endswith('### Form\n\nKeep {signature} and {"json": 1} as they are.')


def test_a_skill_without_steps_gives_its_workflow_and_what_the_user_stated(
    workspace: Workspace, mode: str
) -> None:
    said = text(workspace, mode, "plan_a_day", {"day": "Monday"})

    assert said.startswith("# Plan a Day\n")
    assert "Ask what matters, then put it into an order." in said
    assert said.endswith("## Given\n\n- day: Monday")


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [({}, "patient"), ({"patient": "a", "tone": "rude"}, "tone"),
     ({"patient": "a", "pages": "many"}, "pages"), ({"patient": "a", "pages": "0"}, "pages"),
     ({"patient": "a" * 21}, "patient"), ({"patient": "a", "tome": "warm"}, "tome"),
     ({"patient": "a", "formal": "perhaps"}, "formal")],
)  # fmt: skip
def test_an_argument_that_does_not_fit_is_named(
    workspace: Workspace, mode: str, arguments: dict[str, str], wrong: str
) -> None:
    error = denied(workspace, mode, "write_letter", arguments)

    assert [problem["argument"] for problem in error.error.data["problems"]] == [wrong]
    assert error.error.message.startswith(f"{wrong}: ")


def test_an_empty_optional_argument_is_left_out(workspace: Workspace, mode: str) -> None:
    arguments = {"patient": "Ann", "pages": "", "tone": ""}

    assert "a plain tone. Pages: ." in text(workspace, mode, "write_letter", arguments)


def test_an_unknown_prompt_names_the_near_ones(workspace: Workspace, mode: str) -> None:
    error = denied(workspace, mode, "write_leter", {})

    assert "write_letter" in error.error.message
    # A skill with steps is a tool.
    assert "Unknown prompt" in denied(workspace, mode, "remind_politely", {}).error.message


def test_a_prompt_is_new_after_a_reload_and_goes_when_its_file_breaks(
    project: Path, workspace: Workspace, mode: str
) -> None:
    async def names(client: Client) -> list[str]:
        return [prompt.name for prompt in (await client.list_prompts()).prompts]

    other = project / "tools_md" / "other.prompt.md"
    other.write_text("# Other\n\nAnother one.\n\n## Prompt\n\nSay hello.\n")
    workspace.reload()
    assert "other" in over(workspace, mode, names)

    other.write_text("# Other\n\nAnother one.\n\n## Prompt\n\nSay {greeting}.\n")
    workspace.reload()
    assert "other" not in over(workspace, mode, names)
    assert "prompt-argument" in {str(one.code) for one in workspace.registry.diagnostics}


def test_a_skill_that_is_not_for_people_is_no_prompt(project: Path, mode: str) -> None:
    file = project / "skills_md" / "plan-a-day.skill.md"
    text = file.read_text("utf-8")
    file.write_text(text.replace("- **Category**", "- **User Invocable**: no\n- **Category**"))

    async def use(client: Client) -> list[str]:
        return [prompt.name for prompt in (await client.list_prompts()).prompts]

    with Workspace.open(project) as workspace:
        assert "plan_a_day" not in over(workspace, mode, use)
