"""The files of an orchard: a tool with a policy, its Python, and two skills that use it."""

PICK = "tools_md/pick-fruit.tool.md"
PYTHON = "tools_md/pick_fruit.py"
HARVEST = "skills_md/harvest.skill.md"
FILES = {
    "toolmd.toml": "plugins = []\n[safety]\ndefault_min = 0.5\n",
    PICK: """\
# Pick Fruit

Pick fruit from a tree.

## Metadata

- **Name**: pick_fruit
- **Version**: 1.0.0
- **Category**: orchard

## Parameters

### treeName

- **Type**: string
- **Required**: true
- **Description**: Which tree

### amount

- **Type**: integer
- **Default**: 5
- **Minimum**: 1
- **Maximum**: 50
- **Description**: How many

### basket

- **Type**: object
- **Description**: Where it goes
- **Properties**:
  - **size**:
    - **Type**: integer
  - **owner**:
    - **Type**: string

## Returns

- **Type**: object
- **Properties**:
  - **picked**:
    - **Type**: integer
    - **Required**: true

## Rules

- `!has(basket) || basket.size >= amount`: The basket must hold the fruit.

## Safety

- **Confirm When**: `amount > 20`

## Limits

- **Timeout**: 15s

## Examples

### A few

```json
{"treeName": "Old Tom", "amount": 3}
```

```json
{"picked": 3}
```

### Too many

```json
{"treeName": "amount", "amount": 51}
```

- **Error**: invalid_arguments
""",
    PYTHON: '''\
"""Pick."""


def pick_fruit(tree_name: str, amount: int = 5, basket: dict | None = None) -> dict:
    """Pick the amount."""
    del basket
    picked = f"{amount}" if tree_name else "0"
    return {"picked": int(picked)}
''',
    HARVEST: """\
# Harvest

Harvest one tree.

## Metadata

- **Name**: harvest
- **Version**: 1.0.0
- **Category**: orchard
- **Required Tools**: pick_fruit

## Workflow

1. **Pick**
   - **When**: `rounds > 0`
   - **Use**: pick_fruit
   - **With**:
     - treeName: {tree}
     - amount: `rounds * 5`
   - **Save as**: crop
   - **On error**: go to Rest
2. **Done**
   - **Return**: {tree} gave {has(crop) ? crop.picked : 0}.

### Rest

1. **Idle**
   - **Return**: {tree} rests.

## Input Schema

### tree

- **Type**: string
- **Required**: true
- **Description**: Which tree

### rounds

- **Type**: integer
- **Required**: true
- **Description**: How often

## Output Schema

- **Type**: object
- **Success**: It was harvested
""",
    "skills_md/glean.skill.md": """\
# Glean

Take what is left.

## Metadata

- **Name**: glean
- **Version**: 1.0.0
- **Category**: orchard
- **Required Tools**: pick_fruit

## Workflow

Python does it.

## Input Schema

None

## Output Schema

- **Type**: object
- **Success**: It was gleaned
""",
    "skills_md/glean.py": '''\
"""Glean."""

from toolmd import Context


async def glean(*, context: Context) -> dict:
    """Pick one."""
    result = await context.call("pick_fruit", {"treeName": "Old Tom", "amount": 1})
    return {"picked": result.data["picked"]}
''',
}
