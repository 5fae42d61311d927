"""Intent Keywords may be given for each language, in every way that people write it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolmd import parse_tool
from toolmd._parse import format_text

TOOL = """# Remind

Remind the user.

## Metadata

- **Name**: remind
- **Version**: 1
- **Category**: care

## Parameters

None

## Returns

- **Type**: object

## Safety

- **Explicit Intent**: yes
- **Intent Keywords**:{}
"""
PLAIN = ("remind", "reminder")
BOTH = ("remind", "de: erinnere", "de: Erinnerung", "fr: rappelle")


def keywords(written: str) -> tuple[str, ...] | None:
    spec, _ = parse_tool(TOOL.format(written), "remind.tool.md")
    return None if spec is None else spec.safety.intent_keywords


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (" remind, reminder", PLAIN),
        ("\n  - remind\n  - reminder", PLAIN),
        (" `remind`, `reminder`", PLAIN),
        (" remind or reminder", PLAIN),
        (" remind; de: erinnere, Erinnerung; fr: rappelle", BOTH),
        (" remind, de: erinnere, Erinnerung, fr: rappelle", BOTH),
        (" remind\n  - de: erinnere, Erinnerung\n  - fr: rappelle", BOTH),
        ("\n  - de: erinnere, Erinnerung\n  - remind\n  - fr: rappelle", BOTH),
        ("\n  - remind\n  - **de**: erinnere, Erinnerung\n  - **fr**: rappelle", BOTH),
        ("\n  - remind\n  - German: `erinnere`, `Erinnerung`\n  - French: `rappelle`", BOTH),
        ("\n  - remind\n  - DE: erinnere, Erinnerung\n  - FR: rappelle", BOTH),
        (" zh: 提醒", ("zh: 提醒",)),
    ],
)
def test_keywords_are_read_with_their_language(written: str, read: tuple[str, ...]) -> None:
    assert keywords(written) == read


@pytest.mark.parametrize(
    "written", ["", " none", " de:", " Klingon: Qapla", "\n  - Klingon: Qapla"]
)
def test_what_names_no_keyword_is_an_error(written: str) -> None:
    assert keywords(written) is None


WORDS = st.lists(
    st.tuples(
        st.sampled_from(["", "de", "fr", "zh"]),
        st.text("abcdefgß提 -", min_size=1, max_size=8).filter(str.strip),
    ),
    min_size=1,
    max_size=6,
)


@given(words=WORDS)
def test_the_canonical_form_has_the_same_keywords(words: list[tuple[str, str]]) -> None:
    lines = "".join(
        f'\n  - {code}: "{word.strip()}"' if code else f'\n  - "{word.strip()}"'
        for code, word in words
    )
    text = TOOL.format(lines)
    spec, _ = parse_tool(text, "remind.tool.md")
    if spec is None:
        return
    formatted = format_text(text, "remind.tool.md")
    again, _ = parse_tool(formatted or "", "remind.tool.md")

    assert again is not None
    assert again.safety.intent_keywords == spec.safety.intent_keywords
    assert {word for _, word in map(split, spec.safety.intent_keywords)} == {
        word.strip() for _, word in words
    }


def split(keyword: str) -> tuple[str, str]:
    code, colon, word = keyword.partition(": ")
    return (code, word) if colon else ("", keyword)
