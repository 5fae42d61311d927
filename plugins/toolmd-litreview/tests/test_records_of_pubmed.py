"""The XML of the E-utilities: records as PubMed writes them, and answers that mean harm."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ncbi_server import DOCTYPE, PAGE, article, book, page

from toolmd import ToolError
from toolmd_litreview.records import NOTHING, read_hits, read_papers


def paper(*arguments, **more):
    (read,) = read_papers(page(article(*arguments, **more)).encode())
    return read


def test_a_record_has_its_own_number_title_and_abstract():
    assert paper(31345678, "Statins in the old.", "They help.") == (
        31345678,
        "Statins in the old.",
        "They help.",
        "2024",
        "A journal",
        "10.1/31345678",
    )


def test_a_structured_abstract_has_a_line_a_section():
    read = paper(
        1,
        "T.",
        '<AbstractText Label="BACKGROUND" NlmCategory="BACKGROUND">Why.</AbstractText>'
        '<AbstractText Label="METHODS" NlmCategory="METHODS">How\n      exactly.</AbstractText>'
        '<AbstractText Label="UNLABELLED">And so.</AbstractText><AbstractText/>'
        '<AbstractText NlmCategory="CONCLUSIONS">Bare.</AbstractText>',
    )
    assert read.abstract == "BACKGROUND: Why.\nMETHODS: How exactly.\nAnd so.\nBare."


def test_markup_inside_a_title_is_read_with_its_text():
    title = (
        "Effect of <i>Helicobacter   pylori</i> on CO<sub>2</sub> &amp; <b>x<i>y</i></b>z&#x3b1;."
    )
    assert paper(1, title).title == "Effect of Helicobacter pylori on CO2 & xyzα."


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("10<sup>6</sup> cells", "10⁶ cells"),
        ("10<sup>-3</sup>", "10⁻³"),
        ("m<sup>th</sup> day", "m^(th) day"),
        ("<sup>99m</sup>Tc", "^(99m)Tc"),
        ("a<sup>1<i>2</i>3</sup>4", "a¹²³4"),
        ("a<sup></sup>b<sup/>c", "abc"),
    ],
)
def test_a_raised_number_does_not_become_another_number(written, read):
    assert paper(1, written).title == read


def test_a_missing_title_is_replaced_by_the_one_in_its_language():
    told = "<VernacularTitle>Estatinas en ancianos.</VernacularTitle>"
    assert paper(1, NOTHING, vernacular=told).title == "Estatinas en ancianos."
    assert paper(1, "", vernacular="").title == NOTHING
    assert paper(1, "<i> </i>").title == NOTHING


def test_a_book_has_its_chapters_title_or_its_own():
    answer = page(book(20301295, "Alport Syndrome", "In <i>Alport</i> syndrome."), book(2, "", "x"))
    first, second = read_papers(answer.encode())
    assert first.title == "Alport Syndrome"
    assert first.abstract == "CLINICAL CHARACTERISTICS: In Alport syndrome."
    assert second.title == "A book"


def test_an_invalid_record_is_omitted():
    rest = (
        "<DeleteCitation><PMID Version='1'>3</PMID></DeleteCitation>"
        "<PubmedArticle><PubmedData/></PubmedArticle>"
        "<PubmedArticle><MedlineCitation><PMID>none</PMID></MedlineCitation></PubmedArticle>"
    )
    assert [read.pmid for read in read_papers(page(article(1), rest, article(2)).encode())] == [
        1,
        2,
    ]


def test_a_search_is_read_with_its_place_in_the_history():
    answer = (
        b"<eSearchResult><Count>12</Count><QueryKey>1</QueryKey><WebEnv>MCID_a</WebEnv>"
        b"<IdList><Id>7</Id><Id>8</Id></IdList></eSearchResult>"
    )
    assert read_hits(answer) == (12, "MCID_a", "1", (7, 8), ())
    nothing = b"<eSearchResult><Count>0</Count><IdList/></eSearchResult>"
    assert read_hits(nothing).total == 0


@pytest.mark.parametrize(
    "answer",
    [
        b"<eSearchResult><Count>12</Count></eSearchResult>",
        b"<eSearchResult><Count>-1</Count></eSearchResult>",
        b"<eSearchResult/>",
    ],
)
def test_a_search_without_a_place_in_the_history_is_invalid(answer):
    with pytest.raises(ConnectionError):
        read_hits(answer)


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
HOSTILE = {
    "an entity bomb": f'<!DOCTYPE p [<!ENTITY l0 "ha">{LAUGHS}]>',
    "an external entity": '<!DOCTYPE p [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
    "a parameter entity": '<!DOCTYPE p [<!ENTITY % x SYSTEM "http://127.0.0.1:1/x.dtd"> %x;]>',
    "a quadratic blowup": f'<!DOCTYPE p [<!ENTITY x "{"a" * 100_000}">]>',
    "an entity that is not used": '<!DOCTYPE p [<!ENTITY x "y">]>',
}


@pytest.mark.parametrize("doctype", HOSTILE.values(), ids=HOSTILE)
def test_xml_with_its_own_entities_is_an_error(doctype):
    record = article(1, "&l9;" if "l9" in doctype else "T.")
    with pytest.raises(ToolError, match="its own entities") as caught:
        read_papers(page(record, doctype=doctype).encode())
    assert caught.value.code == "pubmed_hostile"


def test_the_doctype_that_pubmed_writes_is_read_past_and_not_fetched():
    assert "dtd.nlm.nih.gov" in DOCTYPE
    assert paper(1).pmid == 1


WHOLE = page(article(1), article(2)).encode()


@pytest.mark.parametrize("answer", [b"", PAGE, b"{}", b"\x00\xff", WHOLE[:-9], b"<html/>", b"<a>"])
def test_an_invalid_answer_may_be_retried(answer):
    with pytest.raises(ConnectionError):
        read_papers(answer)


def test_an_error_of_the_server_is_reported():
    answer = b"<eFetchResult><ERROR>Unable to obtain query #1</ERROR></eFetchResult>"
    with pytest.raises(ToolError, match="Unable to obtain query #1") as caught:
        read_papers(answer)
    assert caught.value.code == "pubmed_failed"


@given(st.integers(0, len(WHOLE)), st.binary(max_size=4))
def test_a_damaged_answer_is_read_or_an_error(at, piece):
    try:
        papers = read_papers(WHOLE[:at] + piece + WHOLE[at + len(piece) :])
    except (ConnectionError, ToolError):
        return
    assert all(read.pmid > 0 or read.title for read in papers)
