"""The language of the project: the field's words, plain sentences, one meaning for each word."""

import ast
import re
from collections.abc import Iterator

import pytest
from markdown_it import MarkdownIt
from tracked import ROOT, tracked

import toolmd

PRIVATE_WORDS = {
    r"doors?": "dispatcher, interface, or call pipeline",
    r"ladders?|rungs|rows? (?:\d\w?|[0-9]+ (?:and|to) \d)": "call pipeline, checks",
    r"judges?|judged|judging|rulings?": "guard, verdict, check",
    r"(?<!\.)refus(?!(?:ed|al)[\"`':])\w+": "deny, denial, reject",
    r"held calls?|calls? (?:that (?:is|are) )?held|redeem\w*": "confirmation, pending call",
    r"loosen\w*": "weaken, policy change that weakens",
    r"tally|tallies|patience|lookouts?|errands?|retrac\w+": "counter, lock retry, reclaimer",
    r"portraits?|misfit\w*|surplus|notebooks?|waist|storeys?": "detail, mismatch, layer",
    r"anew|whoever|whomever|to be had|is told|are told": "again, a noun, available, receives",
    r"knocks?|ears|last words": "request, event stream",
    r"mends?|mended|mending": "fix, correct",
    r"eras?": "the protocol's revision, such as 2026-07-28",
    r"lone surrogates?|half (?:of )?a (?:character|letter|surrogate pair)": "unpaired surrogate",
}
"""Words that only this project used, as patterns; each with what the field says instead."""
OPENINGS = re.compile(r"(Give|Tell|Say|Hold|Hear|Look|Take)s?\b")
"""Verbs that say nothing about what a function does: return, report, check, find, call do."""
LONGEST = 35
"""The words that a sentence of the docs may have."""

CODE = [name for name in tracked() if re.fullmatch(r"(framework|plugins/[^/]+/src)/.*\.py", name)]
SHOWN = [
    name for name in tracked() if re.fullmatch(r"framework/.*\.html|(docs/.*|[A-Z]+)\.md", name)
]
DOCS = [name for name in SHOWN if name.endswith(".md") and name != "CHANGELOG.md"]


def found_words(name: str) -> Iterator[str]:
    """Return the private words of a file, each with its line and what to write instead."""
    for number, line in enumerate((ROOT / name).read_text("utf-8").splitlines(), 1):
        for pattern, instead in PRIVATE_WORDS.items():
            if found := re.search(rf"\b(?:{pattern})\b", line, re.IGNORECASE):
                yield f"{name}:{number}: {found[0]!r}; write: {instead}"


@pytest.mark.parametrize("name", [*CODE, *SHOWN])
def test_a_file_uses_the_words_of_the_field(name: str) -> None:
    assert list(found_words(name)) == []


@pytest.mark.parametrize("name", CODE)
def test_docstrings_begin_with_a_verb_that_says_what_happens(name: str) -> None:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
    tree = ast.parse((ROOT / name).read_text("utf-8"))
    texts = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, kinds)]

    assert [text.splitlines()[0] for text in texts if OPENINGS.match(text)] == []


def sentences(text: str) -> Iterator[str]:
    """Return the sentences of a page's paragraphs and list items; tables and code have none."""
    table = False
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        table = token.type == "table_open" or (table and token.type != "table_close")
        if token.type == "inline" and not table:
            yield from re.split(r"(?<=[.!?:;])\s+", token.content)


@pytest.mark.parametrize("name", DOCS)
def test_a_sentence_of_the_docs_is_short(name: str) -> None:
    found = sentences((ROOT / name).read_text("utf-8"))

    assert [text for text in found if len(text.split()) > LONGEST] == []


def test_every_public_class_is_in_the_glossary() -> None:
    page = (ROOT / "docs/explanation/glossary.md").read_text("utf-8")
    classes = {
        name
        for name in toolmd.__all__
        if isinstance(found := getattr(toolmd, name), type) and not issubclass(found, Exception)
    }

    assert {name for name in classes if f"`{name}`" not in page} == set()


def test_a_word_is_explained_once() -> None:
    page = (ROOT / "docs/explanation/glossary.md").read_text("utf-8")
    words = re.findall(r"^\| \*\*(.+?)\*\*", page, re.MULTILINE)

    assert len(words) == len(set(words)) > 50
