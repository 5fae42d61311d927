"""A tool that pays, for tests of calls that must have their effect once."""

_TOOL = """# Pay

Pays.

## Metadata

- **Name**: pay
- **Version**: 1.0.0
- **Category**: money
- **Idempotent**: keyed

## Parameters

### amount

- **Type**: integer
- **Description**: How much

{section}

## Returns

- **Type**: object
- **Description**: What came of it
"""


def pay(section: str) -> str:
    """Return the definition with one more section: `## Limits` or `## Safety`."""
    return _TOOL.format(section=section)
