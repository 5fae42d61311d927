"""A project of one tool that does nothing, so that what is measured is what is around it."""

from pathlib import Path

TOOL = """# Note

Note that a step was done.

## Metadata

- **Name**: note
- **Version**: 1.0.0
- **Category**: test
- **Idempotent**: yes

## Parameters

### text

- **Type**: string
- **Required**: true

## Returns

- **Type**: object
"""
PYTHON = '''"""Notes."""


async def note(text: str) -> dict[str, str]:
    return {"text": text}
'''
SKILL = """# Work

Work step by step.

## Metadata

- **Name**: {name}
- **Version**: 1.0.0
- **Category**: test
- **Required Tools**: note

## Workflow

{steps}

## Input Schema

None

## Output Schema

- **Type**: object (SkillResult)
- **Success**: boolean - whether it worked
- **Message**: string - words
- **Data**: object - values
- **Error**: string - why not
"""


def write_project(folder: Path, lengths: tuple[int, ...]) -> None:
    """Write skills `work_N` of N steps each, and `wait`, which asks a person."""
    for kind in ("tools_md", "skills_md"):
        (folder / kind).mkdir(parents=True)
    (folder / "tools_md" / "note.tool.md").write_text(TOOL)
    (folder / "tools_md" / "note.py").write_text(PYTHON)
    for length in lengths:
        step = "{n}. **Note {n}**.\n   - **Use**: note\n   - **With**:\n     - text: step {n}"
        steps = "\n\n".join(step.format(n=n) for n in range(1, length + 1))
        write_skill(folder, f"work_{length}", steps)
    asking = "1. **Ask**.\n   - **Ask**: Shall I?\n   - **Timeout**: 24h\n\n"
    using = "2. **Note**.\n   - **Use**: note\n   - **With**:\n     - text: done"
    write_skill(folder, "wait", asking + using)


def write_skill(folder: Path, name: str, steps: str) -> None:
    """Write one skill."""
    file = folder / "skills_md" / f"{name.replace('_', '-')}.skill.md"
    file.write_text(SKILL.format(name=name, steps=steps))
