"""Two files that differ only in form have the same spec."""

import re
from functools import cache
from pathlib import Path

import pytest
import rewritings
from hypothesis import given
from hypothesis import strategies as st
from rewritings import REWRITINGS

from toolmd._parse import format_text, parse_skill, parse_tool, skill_text, tool_text

ROOT = Path(__file__).parents[2]
FILES = sorted(
    path
    for folder in ("tools_md", "skills_md", "plugins", "tests/cases")
    for path in (ROOT / folder).rglob("*.md")
    if path.name.endswith((".tool.md", ".skill.md"))
)
FIELD = re.compile(r"^- \*\*([^*]+)\*\*:(.*(?:\n(?:  .*|(?=\n  )))*)", re.MULTILINE)


def read(text: str, path: Path):
    parse = parse_skill if path.name.endswith(".skill.md") else parse_tool
    return parse(text, path.name)


original = cache(read)


def parameters_of(text: str) -> tuple[re.Match, list[tuple[str, str]]]:
    """Find the section of parameters in a canonical text, and each name with its bullets."""
    section = re.search(r"\n## (?:Parameters|Input Schema)\n(.*?)(?=\n## |\Z)", text, re.DOTALL)
    blocks = re.split(r"^### ", section[1], flags=re.MULTILINE)
    return section, [tuple(block.split("\n", 1)) for block in blocks[1:]]


def with_parameters(text: str, section: re.Match, written: str) -> str:
    heading = section[0].split("\n")[1]
    return f"{text[: section.start()]}\n{heading}\n\n{written}\n{text[section.end() :]}"


def as_bullets(text: str) -> str:
    """`` - `date` (string, required): the day ``, the other fields nested."""
    section, parameters = parameters_of(text)
    lines = []
    for name, body in parameters:
        fields = dict(FIELD.findall(body))
        kind = fields.pop("Type").strip()
        need = "required" if fields.pop("Required").strip() == "true" else "optional"
        said = fields.pop("Description", "").strip()
        told = f": {said}" if said and "\n" not in said else ""
        if said and not told:
            fields["Description"] = f" {said}"
        lines.append(f"- `{name}` ({kind}, {need}){told}")
        for key, value in fields.items():
            nested = value.replace("\n", "\n  ")
            lines.append(f"  - **{key}**:{nested}")
    return with_parameters(text, section, "\n".join(lines))


def as_headings_with_types(text: str) -> str:
    """`### date (string, required)`."""
    section, parameters = parameters_of(text)
    blocks = []
    for name, body in parameters:
        fields = dict(FIELD.findall(body))
        kind = fields.pop("Type").strip()
        need = "required" if fields.pop("Required").strip() == "true" else "optional"
        rest = "\n".join(f"- **{key}**:{value}" for key, value in fields.items())
        blocks.append(f"### {name} ({kind}, {need})\n\n{rest}")
    return with_parameters(text, section, "\n\n".join(blocks))


def as_table(text: str) -> str | None:
    """Return a row for each parameter; None if a field nests, which a cell can't contain."""
    section, parameters = parameters_of(text)
    rows = [dict(FIELD.findall(body)) | {"Parameter": name} for name, body in parameters]
    if any("\n" in value.rstrip() or "|" in value for row in rows for value in row.values()):
        return None
    others = {key for row in rows for key in row} - {"Parameter"}
    columns = ["Parameter", *sorted(others)]
    table = [columns, ["---"] * len(columns)]
    table += [[row.get(c, "").strip() for c in columns] for row in rows]
    return with_parameters(text, section, "\n".join("| " + " | ".join(r) + " |" for r in table))


def as_front_matter(text: str) -> str:
    """Return the text with Metadata as YAML at the head."""
    section = re.search(r"\n## Metadata\n(.*?)(?=\n## )", text, re.DOTALL)
    lines = [f"{key}: {value.strip()}" for key, value in FIELD.findall(section[1])]
    prose = FIELD.sub("", section[1]).strip()
    rest = f"\n## Metadata\n\n{prose}\n" if prose else "\n"
    head = "\n".join(["---", *lines, "---", ""])
    return head + text[: section.start()] + rest + text[section.end() :]


def same(text: str, again: str, path: Path) -> None:
    spec, _ = original(text, path)
    reread, diagnostics = read(again, path)
    assert spec is not None, path
    assert reread is not None, [path, *map(str, diagnostics)]
    assert reread.canonical == spec.canonical, path
    assert reread.hash == spec.hash, path


@pytest.mark.slow
@pytest.mark.parametrize("rewriting", REWRITINGS, ids=lambda f: f.__name__)
def test_a_rewritten_file_reads_as_the_same_spec(rewriting):
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        same(text, rewriting(text), path)


TOGETHER = [
    [None, rewritings.plain_keys, rewritings.colon_inside_bold, rewritings.underscore_bold,
     rewritings.code_keys, rewritings.dash_separators, rewritings.lower_case_keys,
     rewritings.underscored_keys],
    [None, rewritings.section_aliases],
    [None, rewritings.yes_and_no],
    [None, rewritings.four_space_indents, rewritings.tabs],
    [None, rewritings.star_bullets, rewritings.plus_bullets],
    [None, rewritings.closing_brackets],
    [None, rewritings.closing_hashes, rewritings.deeper_headings, rewritings.numbered_headings,
     rewritings.emoji_headings, rewritings.setext_headings],
    [None, rewritings.loose_lists, rewritings.trailing_spaces],
    [None, rewritings.crlf],
    [None, rewritings.byte_order_mark],
]  # fmt: skip
"""One is chosen of each row, since the others change the same characters."""


@given(path=st.sampled_from(FILES), chosen=st.tuples(*map(st.sampled_from, TOGETHER)))
def test_a_file_rewritten_in_several_ways_at_once_reads_as_the_same_spec(path, chosen):
    text = path.read_text(encoding="utf-8")
    again = text
    for rewriting in filter(None, chosen):
        again = rewriting(again)
    same(text, again, path)


@pytest.mark.parametrize("shape", [as_bullets, as_headings_with_types, as_table, as_front_matter])
def test_parameters_and_metadata_in_another_shape_read_as_the_same_spec(shape):
    read_again = 0
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        if shape is as_front_matter or parameters_of(text)[1]:
            again = shape(text)
            if again is not None:  # else a parameter nests, which a table's cell can't hold
                same(text, again, path)
                read_again += 1
    assert read_again > 20


def test_the_canonical_form_reads_as_the_same_spec_and_stays_as_it_is():
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        written = format_text(text, path.name)
        assert written is not None, path
        same(text, written, path)
        assert format_text(written, path.name) == written, path
        spec, _ = read(text, path)
        write = skill_text if path.name.endswith(".skill.md") else tool_text
        same(text, write(spec), path)
        if path.parent.name != "cases":  # which are written as people write
            assert written == text, f"run `toolmd fmt {path}`"
