"""Save the definition of another tool, as an author does while clients look on."""

import time
from pathlib import Path

TEXT = """# Grown Tool

Grow while clients look on.

## Metadata

- **Name**: grown_tool
- **Version**: 1.0.{version}
- **Category**: conformance

## Parameters

None

## Returns

- **Type**: string
- **Description**: Nothing yet
"""


def test_trigger_tool_change() -> str:
    file = Path(__file__).with_name("grown-tool.tool.md")
    file.write_text(TEXT.format(version=time.time_ns()), encoding="utf-8")
    return "grown_tool"
