"""The lines of a catalogue: what is left out of them is noted with its line."""

import pytest

from toolmd_catalog.layout.blocks import Bullets, Fence, Paragraph, Part, Table
from toolmd_catalog.layout.headings import heading_text
from toolmd_catalog.layout.markdown import outline
from toolmd_catalog.layout.page import page_of
from toolmd_catalog.reader import read

BLOCKS = """Words

1. one
   - two

   more

| a | b |
|---|---|
| c | d |

```py
x = 1
```
"""
TOOL = "## water_bed\n\nWater a bed.\n\nParams:\n- bed: integer\n"


def parts(text: str) -> list[Part]:
    return outline(page_of(text))


def test_front_matter_is_left_out_and_the_lines_keep_their_numbers() -> None:
    page = page_of(f"---\ntitle: Garden\n---\n{TOOL}")
    _, part = outline(page)

    assert part.heading == ("water_bed", 4)
    assert page.notes == []


def test_a_rule_above_the_title_is_not_front_matter() -> None:
    assert page_of(f"---\n{TOOL}").lines[1] == "## water_bed"


@pytest.mark.parametrize(
    ("text", "line", "note"),
    [
        ("---\ntitle: Garden\n\n## water_bed\n", 1, "is never closed: not read"),
        ("## water_bed\n\n```json\n{}\n", 3, "this code fence is never closed"),
        ("## water_bed\n\n<!-- later\n", 3, "this comment is never closed"),
        ("## water_bed\n\nSpeed ‚â• 5\n", 3, "nothing is read from such signs"),
        ("##Safety\n- asks confirmation\n", 1, "it lacks a space behind its signs"),
        ("\n".join("  " * i + f"- level {i}" for i in range(60)), 40, "nested too deep: not read"),
    ],
)
def test_each_unread_part_is_noted_with_its_line(text: str, line: int, note: str) -> None:
    (found,) = [one for one in read(text, "t.md").notes if note in one.text]

    assert found.line == line


def test_blocks_keep_their_lines_and_their_nesting() -> None:
    words, bullets, table, fence = parts(BLOCKS)[0].blocks

    assert isinstance(words, Paragraph)
    assert isinstance(bullets, Bullets)
    assert (bullets.ordered, bullets.items[0].mark) == (True, ("one", 3))
    assert [item.mark for item in bullets.items[0].items] == [("two", 4)]
    assert isinstance(table, Table)
    assert table.rows == [[("c", 10), ("d", 10)]]
    assert isinstance(fence, Fence)
    assert (fence.info, fence.content, fence.mark.line) == ("py", "x = 1\n", 12)


def test_a_bullet_further_right_belongs_to_the_one_above() -> None:
    (bullets,) = parts("1. one\n  * two\n2. three\n")[0].blocks

    assert isinstance(bullets, Bullets)
    assert [item.mark.text for item in bullets.items] == ["one", "three"]
    assert [item.mark.text for item in bullets.items[0].items] == ["two"]


@pytest.mark.parametrize(
    ("heading", "words"),
    [
        ("2.1. Parameters:", "Parameters"),
        ("🔒 **Safety Rules**", "Safety Rules"),
        (":lock: Safety", "Safety"),
        ("[Limits](#limits)", "Limits"),
        ("Notes {#notes}", "Notes"),
        ("`get_labs`", "get_labs"),
        ("Returns <!-- later -->", "Returns"),
        ("“Purpose”", "Purpose"),
    ],
)
def test_a_heading_is_read_without_its_signs(heading: str, words: str) -> None:
    assert heading_text(heading) == words
