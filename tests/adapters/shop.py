"""A small shop, in whose project the adapters are tested."""

from pathlib import Path

import pytest

from toolmd import Workspace

REFUND = ("refund", {"order": "A1", "amount": 120})
REFUNDED = "refund ['A1', 120.0] by u1"
LOOK = ("look", {"order": "A1"})
LOOKED = "look ['A1', 1] by u1"
BOTH_WAYS = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])

REFUND_TOOL = """\
# refund

Refund an order.

## Parameters
- **order** (string, required): The order.
- **amount** (number, required): The amount.
  - **Minimum**: 1
  - **Maximum**: 500

## Returns
- **Type**: object

## Metadata
- **Category**: shop
- **Read Only**: false
- **Idempotent**: false

## Safety
- **Requires Confirmation**: true
"""
LOOK_TOOL = """\
# look

Look an order up.

## Parameters
- **order** (string, required): The order.
- **days** (integer, optional): The days.
  - **Minimum**: 1

## Returns
- **Type**: object

## Metadata
- **Category**: shop
- **Read Only**: true
"""
PYTHON = '''
from pathlib import Path

def {name}(*, context, **given):
    """Note the call."""
    with (Path(__file__).parent / "ran").open("a") as file:
        file.write("{name} " + str(given) + " by " + str(context.user) + chr(10))
    return {{"done": "{name}"}}
'''


def write_shop(folder: Path) -> Path:
    """Write the project, and return its folder."""
    tools = folder / "tools_md"
    tools.mkdir(parents=True)
    (folder / "toolmd.toml").write_text("plugins = []\n")
    parameters = {"refund": "order: str, amount: float", "look": "order: str, days: int = 1"}
    for name, text in (("refund", REFUND_TOOL), ("look", LOOK_TOOL)):
        (tools / f"{name}.tool.md").write_text(text)
        python = PYTHON.format(name=name).replace(
            "*, context, **given", f"{parameters[name]}, *, context"
        )
        names = ", ".join(f"{one.split(':')[0]}" for one in parameters[name].split(", "))
        python = python.replace("str(given)", f"str([{names}])")
        (tools / f"{name}.py").write_text(python)
    return folder


def ran(ws: Workspace) -> list[str]:
    """Return the calls that ran."""
    return calls_of(ws.settings.root)


def calls_of(folder: Path) -> list[str]:
    """Return the calls that ran."""
    ran = folder / "tools_md" / "ran"
    return ran.read_text().splitlines() if ran.exists() else []


def open_shop(folder: Path, expires: float = 600) -> Workspace:
    """Open the project with a store that survives its process."""
    overrides = {"store": "sqlite", "confirmations.expires": expires}
    return Workspace.open(folder, overrides=overrides)


def change(folder: Path, name: str, old: str, new: str) -> None:
    """Replace a text of a tool's file."""
    file = folder / f"tools_md/{name}.tool.md"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


ASK_TWICE = """\
# ask_twice

Look after two questions.

## Metadata
- **Version**: 1.0.0
- **Category**: shop
- **Required Tools**: look

## Parameters
- **order** (string, required): The order.

## Workflow

1. **First**
   - **Ask**: The first?
2. **Second**
   - **Ask**: The second?
3. **Look**
   - **Use**: look
   - **With**:
     - order: `order`

## Output Schema
None
"""
REPORT = """\
# report

Draw a report.

## Parameters
None

## Returns
- **Type**: object

## Metadata
- **Category**: shop
- **Read Only**: true
"""


def add_asking_skill(folder: Path) -> None:
    """Add a skill that asks twice."""
    skills = folder / "skills_md"
    skills.mkdir()
    (skills / "ask_twice.skill.md").write_text(ASK_TWICE)


def add_report(folder: Path) -> None:
    """Add a tool that returns an image and a file."""
    (folder / "tools_md/report.tool.md").write_text(REPORT)
    (folder / "tools_md/report.py").write_text(
        "from toolmd import File, Image\n\n\ndef report() -> dict:\n"
        "    chart = Image(b'\\x89PNG\\r\\n\\x1a\\n' + bytes(8), 'image/png')\n"
        "    return {'chart': chart, 'text': File(b'%PDF-1.7', 'application/pdf', 'report.pdf')}\n"
    )


def add_many(folder: Path) -> None:
    """Add a tool that reports its progress and returns 500 rows."""
    (folder / "tools_md/many.tool.md").write_text(
        REPORT.replace("report", "many").replace("object", "array")
    )
    (folder / "tools_md/many.py").write_text(
        "async def many(*, context) -> list:\n"
        "    await context.progress('half', 0.5)\n"
        "    return [{'row': n, 'text': 'x' * 200} for n in range(500)]\n"
    )


def add_review(folder: Path) -> Path:
    """Let refunds wait for a manager in place of the caller, and return the folder."""
    change(folder, "refund", "## Safety\n- **Requires Confirmation**: true\n", """\
## Approval
- **When**: `amount > 100`
- **By**: manager
""")  # fmt: skip
    return folder
