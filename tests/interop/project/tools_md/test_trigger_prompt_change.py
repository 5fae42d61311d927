"""Save the definition of a prompt, as an author does while clients look on."""

import time
from pathlib import Path

TEXT = """# Grown Prompt

Grow for the {version}th time.

## Metadata

- **Name**: grown_prompt

## Prompt

Grow.
"""


def test_trigger_prompt_change() -> str:
    file = Path(__file__).with_name("grown-prompt.prompt.md")
    file.write_text(TEXT.format(version=time.time_ns()), encoding="utf-8")
    return "grown_prompt"
