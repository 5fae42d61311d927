"""Places of a tool and of a skill where a line may be put, and the ways of writing a field."""

from collections.abc import Iterator
from dataclasses import dataclass

from toolmd._parse import parse_skill, parse_tool
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec

TOOL = """\
# Pay Wage

Pay the wage of a month.
@head
## Metadata
@metadata top
- **Name**: pay_wage
- **Version**: 1.0.0
- **Category**: payroll
@metadata
### More
@metadata part
## When to use
@when to use
At the end of the month.

## Parameters
@parameters
### amount

- **Type**: number
- **Required**: true
- **Description**: What is paid
@parameter
### bank

- **Type**: object
- **Required**: true
- **Properties**:
  - **code**:
    - **Type**: string
    - **Required**: true
@@@@property
@@properties
### days

- **Type**: array
- **Required**: true
- **Items**:
  - **Type**: string
@@items
## Returns
@returns top
- **Type**: object
- **Description**: The slip
@returns
### number

- **Type**: integer
- **Description**: Its number
@returned field
## Rules
@rules top
- `amount > 0.0`: Pay something.
@rules
## Safety
@safety top
- **On Missing Confidence**: deny
@safety
### By night
@safety part
## Limits
@limits top
- **Max Concurrent**: 4
@limits
## Examples
@examples
### A month

```json
{"amount": 5.0, "bank": {"code": "B"}, "days": ["mon"]}
```
@example
## Notes
@prose section
Paid on the last day.
"""
SKILL = """\
# Pay All

Pay all wages.
@head
## Metadata
@metadata top
- **Name**: pay_all
- **Version**: 1.0.0
- **Category**: payroll
- **Required Skills**: count_all
@metadata
## When to use
@when to use
At the end of the month.

## Workflow

Pay them one by one.
@workflow
1. **Pay** the wage.
   - **Use**: pay_wage
   - **With**:
     - amount: `amount`
@@@step
2. **Look back** at it.
@@@documentation step
   - at the slip
@@@@@below a bullet of a step
3. **Return**
@between steps
### No money

1. **Tell** the owner.
   - **Use**: tell_owner
@@@step of a section
@workflow section
## Input Schema
@input schema
### amount

- **Type**: number
- **Required**: true
- **Description**: What is paid
@input
## Output Schema
@output schema top
- **Type**: object (SkillResult)
- **Success**: boolean - Whether it worked
@output schema
## Notes
@prose section
Paid on the last day.
"""
PROSE = {"sections", "description", "title", "extra", "hash", "source", "when_to_use", "workflow",
         "examples", "output", "places", "line", "text", "column", "value_column"}  # fmt: skip
"""The keys of a canonical form whose words nothing enforces."""

WAYS = {
    "bold": "- **{key}**: {value}",
    "colon in bold": "- **{key}:** {value}",
    "underscores": "- __{key}__: {value}",
    "plain": "- {key}: {value}",
    "code": "- `{key}`: {value}",
    "bold and a dash": "- **{key}** - {value}",
    "bold and an em dash": "- **{key}** \u2014 {value}",
    "full-width colon": "- {key}\uff1a{value}",
    "italics": "- *{key}*: {value}",
    "star": "* **{key}**: {value}",
    "plus": "+ {key}: {value}",
    "numbered": "1. **{key}**: {value}",
    "no-break space": "- **{key}**:\u00a0{value}",
    "emoji": "- \U0001f512 **{key}**: {value}",
    "wrapped": "- **{key}**:\n  {value}",
    "box": "- [x] **{key}**: {value}",
}
"""A bullet as people write it."""
HIDDEN = {
    "quoted": "> **{key}**: {value}",
    "quoted bullet": "> - {key}: {value}",
    "bold line": "**{key}**: {value}",
    "plain line": "{key}: {value}",
    "nested": "- Mind this\n  - **{key}**: {value}",
    "after words": "Mind this.\n- **{key}**: {value}",
    "table": "| Field | Value |\n|---|---|\n| {key} | {value} |",
    "table with a reason": "| Rule | Value | Why |\n|---|---|---|\n| {key} | {value} | risk |",
}
"""Other ways, without a bullet."""


@dataclass(frozen=True)
class Place:
    """A line of a file where others may be inserted."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}"

    @property
    def numbered(self) -> bool:
        """Return whether a numbered bullet is a step here, not a field."""
        return self.name in {"workflow", "between steps", "workflow section"}

    def text(self, put: str | None = None) -> tuple[str, range]:
        """Return the file with lines inserted here, and the numbers of these lines."""
        out: list[str] = []
        at = range(0)
        for line in (TOOL if self.kind == "tool" else SKILL).split("\n"):
            if not line.startswith("@"):
                out.append(line)
                continue
            name = line.lstrip("@")
            indent = " " * (len(line) - len(name) - 1)
            out += [] if indent else [""]
            if name == self.name and put is not None:
                lines = [indent + one for one in put.split("\n")]
                at = range(len(out) + 1, len(out) + 1 + len(lines))
                out += lines
            out.append("")
        return "\n".join(out), at


PLACES = [
    Place(kind, line.lstrip("@"))
    for kind, text in (("tool", TOOL), ("skill", SKILL))
    for line in text.split("\n")
    if line.startswith("@")
]


def read(place: Place, text: str):
    """Read a file of a place's kind."""
    parse = parse_tool if place.kind == "tool" else parse_skill
    return parse(text, "pay_wage.tool.md" if place.kind == "tool" else "pay_all.skill.md")


def enforced(spec: ToolSpec | SkillSpec) -> object:
    """Return the enforced part of a spec."""
    return _enforced(spec.canonical)


def _enforced(value: object) -> object:
    if isinstance(value, dict):
        return {key: _enforced(inner) for key, inner in value.items() if key not in PROSE}
    return [_enforced(inner) for inner in value] if isinstance(value, list) else value


POLICY = {"requires_auth", "requires_context", "unknown_parameters", "safety", "limits",
          "rules", "given", "approvals", "allowed_roles", "required_tools", "required_skills",
          "context", "model_invocation", "user_invocable", "allowed_tools",
          "disallowed_tools"}  # fmt: skip


def policy(spec: ToolSpec | SkillSpec) -> object:
    """Return the restricting part of a spec."""
    canonical = spec.canonical
    steps = [_enforced(step) for step in canonical.get("steps", [])]
    fields = {key: canonical[key] for key in POLICY & set(canonical)}
    return fields, [s for s in steps if len(s) > 1], sorted(_marks(canonical, ""))


def _marks(value: object, at: str) -> Iterator[str]:
    """Yield the paths at which a value is marked sensitive or verbatim."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key.startswith("x-"):
                yield f"{at}{key}={inner}"
            yield from _marks(inner, f"{at}{key}/")
    for inner in value if isinstance(value, list) else ():
        yield from _marks(inner, at)
