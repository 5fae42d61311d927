"""A run whose process is killed is finished by the next one, and nothing is done twice."""

import signal

TOOL = """# {title}

Write a line.

## Metadata

- **Name**: {name}
- **Version**: 1.0.0
- **Category**: test
- **Idempotent**: keyed

## Parameters

None

## Returns

- **Type**: object
- **Description**: What was done
"""

NOTE = '''"""Write a line."""

from pathlib import Path


async def note() -> dict[str, str]:
    with Path("lines.txt").open("a") as file:
        file.write("noted\\n")
    return {"done": "noted"}
'''

FALL = '''"""Write a line; the first time, the process is killed before it could."""

import os
import signal
from pathlib import Path


async def fall() -> dict[str, str]:
    if not Path("fell.txt").exists():
        Path("fell.txt").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    with Path("lines.txt").open("a") as file:
        file.write("got up\\n")
    return {"done": "got up"}
'''

SKILL = """# Walk

Walk on after a fall.

## Metadata

- **Name**: walk
- **Version**: 1.0.0
- **Category**: test
- **Required Tools**: note, fall

## Parameters

None

## Workflow

1. **Note**.
   - **Use**: note
2. **Fall**.
   - **Use**: fall
   - **Save as**: fallen
3. **Return**:
   - done: `fallen.done`

## Output Schema

- **Type**: object (SkillResult)
- **Success**: boolean - Whether it was done
- **Message**: string - What was done
- **Data**: object - Contains done
- **Error**: string - What went wrong
"""


def test_a_run_of_a_killed_process_is_resumed(project) -> None:
    for name, text in (("note", NOTE), ("fall", FALL)):
        project.write(f"tools_md/{name}.tool.md", TOOL.format(name=name, title=name.title()))
        project.write(f"tools_md/{name}.py", text)
    project.write("skills_md/walk.skill.md", SKILL)
    checked = project.toolmd("check")
    assert checked.code == 0, checked

    killed = project.toolmd("run", "walk")
    assert killed.code == -signal.SIGKILL
    (run,) = project.toolmd("runs", "--json").json
    resumed = project.toolmd("runs", "resume", run["id"])

    assert resumed.code == 0, resumed
    assert (project.folder / "lines.txt").read_text() == "noted\ngot up\n"
    shown = project.toolmd("runs", "show", run["id"], "--json").json
    assert shown["result"]["data"] == {"done": "got up"}
