"""Twelve functions and their files are hardly longer than the same tools with fastmcp."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/how-to/from-other-frameworks.md"
MOST = 1.8


def test_twelve_tools_have_less_than_1_8_times_the_lines_of_the_fastmcp_file() -> None:
    page = PAGE.read_text("utf-8")
    fastmcp = re.search(r"## With fastmcp\n\n```text\n(.*?)```", page, re.DOTALL)
    # The page's own test compares this number with the files that its commands write.
    total = re.search(r"wc -l\n(\d+)\n", page)
    assert fastmcp is not None
    assert total is not None
    assert fastmcp[1].count("@mcp.tool") == 12
    assert int(total[1]) < MOST * fastmcp[1].count("\n")
