"""Tools and skills whose policies are compared, and every definition of the project."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from toolmd import Parameter, Schema, ToolSpec, parse_tool

ROOT = Path(__file__).parents[3]

FULL = """\
# Give Dose

Give a patient a dose.

## Metadata

- **Name**: give_dose
- **Version**: 1.0.0
- **Category**: care
- **Requires Auth**: true
- **Requires Context**: patient

## Parameters

### drug

- **Type**: string
- **Required**: true
- **Description**: The drug
- **Enum**: aspirin, ibuprofen
- **Verbatim**: true

### dose

- **Type**: integer
- **Required**: true
- **Description**: How much
- **Minimum**: 1
- **Maximum**: 10

### note

- **Type**: string
- **Description**: What else
- **Min Length**: 2
- **Max Length**: 80
- **Pattern**: `[a-z ]+`
- **Sensitive**: true

### days

- **Type**: array
- **Description**: On which days
- **Min Items**: 1
- **Max Items**: 7
- **Unique**: true
- **Items**:
  - **Type**: string
  - **Description**: A day
  - **Format**: date

### place

- **Type**: object
- **Description**: Where
- **Properties**:
  - **ward**:
    - **Type**: string
    - **Required**: true
    - **Description**: The ward
    - **Max Length**: 20

## Returns

- **Type**: object
- **Description**: What was given

## Rules

- `dose < 8 || drug == 'aspirin'`: Only aspirin may be given in such doses.
- `drug != 'ibuprofen' || has(note)`: Say why.

## Safety

- **Min Confidence**: 0.8
- **Requires Confirmation**: true
- **Confirm When**: `dose > 5`
- **Sensitivity**: high
- **Explicit Intent**: true
- **Intent Keywords**: give, dose
- **Crisis When**: `dose > 9`

## Limits

- **Timeout**: 10s
- **Retries**: 2
- **Backoff**: 500ms
- **Rate**: 3/s
- **Max Rows**: 100
- **Max Bytes**: 64KB
- **Max Batch**: days by 4
- **Max Calls**: 20
- **Allowed Domains**: api.example.org, *.care.example.org
"""
"""A tool with every restriction that there is."""

RESTRICTING = re.compile(
    r"""^\s*-\ \*\*(Requires\ Auth|Requires\ Patient\ Context|Enum|Verbatim|Sensitive|Minimum
    |Maximum|Min\ Length|Max\ Length|Pattern|Format|Min\ Items|Max\ Items|Unique|Min\ Confidence
    |Requires\ Confirmation|Confirm\ When|Sensitivity|Explicit\ Intent|Escalate\ When|Timeout
    |Retries|Backoff|Rate|Max\ Rows|Max\ Bytes|Max\ Batch|Max\ Calls|Allowed\ Domains)\*\*:
    |^\s*-\ \*\*Required\*\*:\ true
    |^-\ `.*`:\ """,
    re.VERBOSE,
)
"""A line of a canonical file that restricts; Intent Keywords can't go alone."""
UNRESTRICTING = re.compile(
    r"^\s*-\ \*\*(Requires[^*]*|Unique|Verbatim|Sensitive|Explicit Intent)\*\*: (false|no)"
)


def spec_of(text: str) -> ToolSpec:
    spec, said = parse_tool(text, "tools_md/give-dose.tool.md")
    assert spec is not None, said
    return spec


def tool_of(shape: Schema, returns: Schema | None = None) -> ToolSpec:
    """Give the tool with one parameter, `x`, of this shape, and with a result of the other."""
    changes: dict[str, object] = {
        "parameters": (Parameter("x", shape, required=True),),
        "rules": (),
    }
    return spec_of(FULL).model_copy(update=changes | ({"returns": returns} if returns else {}))


def edited(line: str, by: str = "", text: str = FULL) -> ToolSpec:
    """Give the tool with one line replaced, or taken out."""
    assert line in text, line
    return spec_of(text.replace(line, by, 1))


def project_files() -> list[Path]:
    """Give every tool file of the repository."""
    folders = ("tools_md", "plugins")
    return sorted(file for name in folders for file in (ROOT / name).rglob("*.tool.md"))


def restricting_lines(text: str) -> Iterator[int]:
    """Give the numbers of the lines that restrict calls, outside of Returns and of fences."""
    section, fenced = "", False
    for number, line in enumerate(text.splitlines()):
        if line.startswith(("```", "~~~")):
            fenced = not fenced
        if line.startswith("## "):
            section = line[3:].strip()
        restricts = RESTRICTING.match(line) and not UNRESTRICTING.match(line)
        in_rules = section == "Rules" or not line.startswith("- `")
        inside = section != "Examples" and (section != "Returns" or "**Sensitive**" in line)
        if restricts and not fenced and inside and in_rules:
            yield number


def without(text: str, number: int) -> str:
    """Give the text without one line and what is nested below it."""
    lines = text.splitlines(keepends=True)
    indent = len(lines[number]) - len(lines[number].lstrip())
    end = number + 1
    while end < len(lines) and lines[end].strip() and _indent(lines[end]) > indent:
        end += 1
    return "".join(lines[:number] + lines[end:])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def places(found: Any) -> set[str]:
    return {weakening.place for weakening in found}
