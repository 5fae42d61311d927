"""Hostile texts get diagnostics within seconds; none raises."""

from time import process_time

import pytest

from toolmd._parse import parse_skill, parse_tool

HEAD = "# T\n\nText.\n\n## Metadata\n\n- **Name**: t\n\n## Parameters\n\n"
SIZE = 60_000
MOST_S = 10
"""Processor seconds for one text; an algorithm of quadratic time takes a minute."""
TEXTS = {
    "images": "![" * (SIZE // 2),
    "brackets": "[" * SIZE,
    "quotes": ">" * SIZE,
    "quotes and lists": "> - " * (SIZE // 4),
    "lists in lists": "- " * (SIZE // 2),
    "an indented stair": "\n".join(" " * 2 * i + "- a" for i in range(240)),
    "backticks": " ".join("`" * i for i in range(1, 340)),
    "a wide table": "|a" * (SIZE // 4) + "\n" + "|-" * (SIZE // 4) + "\n",
    "a table of many words": HEAD
    + "| code | what it measures |\n| --- | --- |\n"
    + "".join(f"| {i}-{i % 9} | Hemoglobin of kind {i} |\n" for i in range(1500)),
    "comments": "<!--" * (SIZE // 4),
    "setext headings": "a\n=\n" * (SIZE // 4),
    "many bullets": "- **a**: b\n" * (SIZE // 11),
    "many parameters": HEAD + "### a\n\n" * (SIZE // 7),
    "many fields of objects": HEAD + "".join(f"### a{i}.b\n\n" for i in range(4000)),
    "a name of many parts": HEAD + "### " + ".".join("a" * 20_000),
    "a type of many parts": HEAD + "### a\n\n- **Type**: " + "list[" * 10_000,
    "a type of many braces": HEAD + "### a\n\n- **Type**: " + "{a: " * 10_000,
    "many brackets behind a name": HEAD + "- a " + "(" * SIZE,
    "a long enum": HEAD + "### a\n\n- **Enum**: " + ",".join(map(str, range(10_000))),
    "a long number": HEAD + "### a\n\n- **Type**: integer\n- **Default**: " + "9" * SIZE,
    "a deep expression": "# T\n\nText.\n\n## Rules\n\n- `" + "(" * SIZE + "`: No.\n",
    "deep JSON": "# T\n\nText.\n\n## Examples\n\n### a\n\n```json\n" + "[" * SIZE + "\n```\n",
    "deep YAML": "---\n" + "[" * 4000 + "\n---\n",
    "an alias of an alias": "---\na: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\n---\n",
    "many colons in YAML": "---\n" + "".join(f"a{i}: b: c\n" for i in range(300)) + "---\n",
    "a tag that makes an object": "---\nname: !!python/object/apply:os.system [ls]\n---\n",
    "braces that never close": "# T\n\nText.\n\n## Workflow\n\n1. **Stop**: " + "{" * SIZE,
    "many steps": "# T\n\nText.\n\n## Workflow\n\n" + "1. **A**\n   - **Use**: b\n" * 2400,
    "zeros": "\0" * SIZE,
    "letters in the wrong encoding": "‚â•" * (SIZE // 4),
    "lone surrogates": "# \ud800\n\n\udfff\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("parse", [parse_tool, parse_skill])
@pytest.mark.parametrize("name", TEXTS)
def test_a_hostile_text_gets_diagnostics_in_time(parse, name):
    began = process_time()
    spec, diagnostics = parse(TEXTS[name], "x.tool.md")
    assert process_time() - began < MOST_S
    assert spec is None
    assert diagnostics
    assert all(d.span.line >= 1 and d.span.column >= 1 for d in diagnostics)
