"""Parse the XML of the E-utilities: hits, links and records of papers and books."""

from typing import NamedTuple
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from toolmd_litreview.asking import Server
from toolmd_litreview.paper import Paper

PUBMED = Server("PubMed", "pubmed")
NOTHING = "[Not Available]."
"""PubMed's text for a missing title."""
_SUPERSCRIPTS = str.maketrans("0123456789+-\N{MINUS SIGN}=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_PLAIN = frozenset("0123456789+-\N{MINUS SIGN}=()n")


class Hits(NamedTuple):
    """The result of a search, which stays on NCBI's history server."""

    total: int
    web_env: str
    query_key: str
    first: tuple[int, ...]
    """The PMIDs of the first hits."""
    not_found: tuple[str, ...] = ()
    """Phrases and fields of the query that PubMed does not know and left out."""


_UNKNOWN = (
    "ErrorList/PhraseNotFound",
    "ErrorList/FieldNotFound",
    "WarningList/PhraseIgnored",
    "WarningList/QuotedPhraseNotFound",
)


def read_hits(answer: bytes) -> Hits:
    """Read the answer of esearch."""
    root = _root(answer, "eSearchResult")
    count = root.findtext("Count", "").strip()
    unknown = (_words(node) for path in _UNKNOWN for node in root.iterfind(path))
    hits = Hits(
        total=int(count) if count.isdecimal() else -1,
        web_env=root.findtext("WebEnv", "").strip(),
        query_key=root.findtext("QueryKey", "").strip(),
        first=_numbers(root, "IdList/Id"),
        not_found=tuple(dict.fromkeys(filter(None, unknown))),
    )
    if hits.total < 0 or (hits.total and not (hits.web_env and hits.query_key)):
        raise PUBMED.garbled()
    return hits


def read_links(answer: bytes) -> tuple[int, ...]:
    """Read the answer of elink with `neighbor_score`: the closest first."""
    root = _root(answer, "eLinkResult")
    scores: dict[int, int] = {}
    for link in root.iterfind("LinkSet/LinkSetDb/Link"):
        number, score = link.findtext("Id", "").strip(), link.findtext("Score", "0").strip()
        if number.isdecimal():
            scores[int(number)] = int(score) if score.isdecimal() else 0
    return tuple(sorted(scores, key=lambda number: -scores[number]))


def read_papers(answer: bytes) -> list[Paper]:
    """Read the records of efetch in order, without those that lack a PMID."""
    root = _root(answer, "PubmedArticleSet")
    return [paper for record in root if (paper := _paper(record)) is not None]


def _numbers(root: Element, path: str) -> tuple[int, ...]:
    texts = ((node.text or "").strip() for node in root.iterfind(path))
    return tuple(int(text) for text in texts if text.isdecimal())


def _root(answer: bytes, name: str) -> Element:
    """Parse an answer; raises ConnectionError for other content, such as a gateway's page."""
    try:
        root: Element = fromstring(answer)
    except DefusedXmlException as error:
        message = "XML with its own entities, which is not read"
        raise PUBMED.error("hostile", message) from error
    except (ParseError, ValueError, LookupError) as error:
        raise PUBMED.garbled() from error
    if (fault := root.findtext("ERROR")) is not None:
        raise PUBMED.error("failed", _squeezed(fault)[:200].rstrip("."))
    if root.tag != name:
        raise PUBMED.garbled()
    return root


def _paper(record: Element) -> Paper | None:
    # A record contains the PMIDs of others (comments, references), so each path is exact.
    if (book := record.find("BookDocument")) is not None:
        number = book.findtext("PMID", "")
        titles = [book.find("ArticleTitle"), book.find("Book/BookTitle")]
        abstract = book.find("Abstract")
    elif (citation := record.find("MedlineCitation")) is not None:
        number = citation.findtext("PMID", "")
        titles = [citation.find("Article/ArticleTitle"), citation.find("Article/VernacularTitle")]
        abstract = citation.find("Article/Abstract")
    else:
        return None
    if not number.strip().isdecimal():
        return None
    told = [title for node in titles if (title := _words(node)) and title != NOTHING]
    title = told[0] if told else NOTHING
    return Paper(int(number), title, _abstract(abstract), *_printed(record))


def _printed(record: Element) -> tuple[str, str, str]:
    """Return the year, the journal or book, and the DOI; empty where there is none."""
    article = "MedlineCitation/Article"
    years = (f"{article}/Journal/JournalIssue/PubDate/Year",
             f"{article}/Journal/JournalIssue/PubDate/MedlineDate",
             f"{article}/ArticleDate/Year", "BookDocument/Book/PubDate/Year")  # fmt: skip
    dated = (text[:4] for path in years if (text := _words(record.find(path)))[:4].isdecimal())
    places = (f"{article}/Journal/ISOAbbreviation", f"{article}/Journal/Title",
              "BookDocument/Book/BookTitle")  # fmt: skip
    named = (text for path in places if (text := _words(record.find(path))))
    dois = (
        _words(node)
        for path in ("PubmedData/ArticleIdList/ArticleId", f"{article}/ELocationID",
                     "BookDocument/ArticleIdList/ArticleId")
        for node in record.iterfind(path)
        if "doi" in (node.get("IdType"), node.get("EIdType"))
    )  # fmt: skip
    return next(dated, ""), next(named, ""), next(dois, "")


def _abstract(node: Element | None) -> str:
    if node is None:
        return ""
    lines = []
    for part in node.iterfind("AbstractText"):
        words, label = _words(part), part.get("Label", "").strip()
        if words:
            lines.append(f"{label}: {words}" if label and label != "UNLABELLED" else words)
    return "\n".join(lines)


def _words(node: Element | None) -> str:
    """Return the text under a node; `10<sup>6</sup>` must not become 106."""
    if node is None:
        return ""
    for part in reversed([*node.iter("sup")]):
        part.text = _raised("".join(part.itertext()))
        del part[:]
    return _squeezed("".join(node.itertext()))


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _raised(text: str) -> str:
    if not text.strip():
        return text
    return text.translate(_SUPERSCRIPTS) if _PLAIN.issuperset(text) else f"^({text.strip()})"
