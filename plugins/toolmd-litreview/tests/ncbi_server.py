"""A fake of NCBI's E-utilities on 127.0.0.1 that fails on request."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

DOCTYPE = (
    '<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" '
    '"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">'
)
HEARTS, LUNGS = range(1, 31), range(101, 131)
"""The numbers of the papers of two themes."""
PAGE = b"<!DOCTYPE html><html><head><title>Error</title></head><body><p>Sorry<br></body></html>"


class Fault:
    """A response that replaces the right one."""

    def __init__(self, status=200, body=b"", *, cut=0, headers=None, wait=None):
        self.status = status
        self.body = body
        self.cut = cut
        """Bytes that are promised and never sent."""
        self.headers = headers or {}
        self.wait = wait
        """An event that must happen first."""


class FakeServer:
    """A server that answers posts by `answers`, its faults first; it remembers what was asked."""

    def __init__(self):
        self.faults = deque()
        self.asked = []
        """`(path, what was asked, when, headers)` of each request."""
        self.closing = threading.Event()

    def answer(self, path: str, body: bytes) -> tuple[str, bytes]:
        raise NotImplementedError

    def understand(self, body: bytes):
        raise NotImplementedError

    def paths(self):
        return [path.rsplit("/", 1)[-1] for path, *_ in self.asked]

    @contextmanager
    def open(self) -> Iterator[str]:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                at = time.monotonic()
                fake.asked.append((self.path, fake.understand(body), at, dict(self.headers)))
                if fake.faults and (fault := fake.faults.popleft()) is not None:
                    fake.fail(self, fault)
                    return
                kind, answer = fake.answer(self.path, body)
                fake.reply(self, 200, answer, {"Content-Type": kind})

            def log_message(self, *args):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            self.closing.set()
            server.shutdown()
            server.server_close()
            thread.join()

    def fail(self, handler, fault):
        if fault.wait is not None:
            fault.wait.wait(30)
        self.reply(handler, fault.status, fault.body, fault.headers, cut=fault.cut)

    def reply(self, handler, status, body, headers, cut=0):
        try:
            handler.send_response(status)
            for name, value in headers.items():
                handler.send_header(name, value)
            handler.send_header("Content-Length", str(len(body) + cut))
            handler.end_headers()
            handler.wfile.write(body)
        except OSError:
            pass
        if cut:
            handler.close_connection = True


class NcbiServer(FakeServer):
    """PubMed: records by PMID, and what each query finds."""

    def __init__(self):
        super().__init__()
        self.records: dict[int, str] = {}
        self.find: Callable[[str], list[int]] = lambda term: sorted(self.records)
        self.near: dict[int, list[int]] = {}
        self.unknown: list[str] = []
        """Phrases of the next queries that PubMed does not know."""
        self._history: dict[tuple[str, str], list[int]] = {}

    def add(self, pmid, title="A title.", abstract="An abstract.", **more):
        self.records[pmid] = article(pmid, title, abstract, **more)

    def understand(self, body):
        return {name: values[0] for name, values in parse_qs(body.decode()).items()}

    def answer(self, path, body):
        asked = self.understand(body)
        assert asked["db"] == "pubmed"
        utility = path.rsplit("/", 1)[-1].removesuffix(".fcgi")
        return "text/xml; charset=UTF-8", getattr(self, utility)(asked).encode()

    def esearch(self, asked):
        assert asked["usehistory"] == "y"
        found = self.find(asked["term"])
        phrases = "".join(f"<PhraseNotFound>{words}</PhraseNotFound>" for words in self.unknown)
        errors = f"<ErrorList>{phrases}</ErrorList>" if phrases else ""
        env = f"MCID_{len(self._history):04d}"
        self._history[env, "1"] = found
        ids = "".join(f"<Id>{pmid}</Id>" for pmid in found[: int(asked["retmax"])])
        return (
            '<?xml version="1.0" encoding="UTF-8" ?><!DOCTYPE eSearchResult PUBLIC '
            '"-//NLM//DTD esearch 20060628//EN" '
            '"https://eutils.ncbi.nlm.nih.gov/eutils/dtd/20060628/esearch.dtd">'
            f"<eSearchResult><Count>{len(found)}</Count><RetMax>{asked['retmax']}</RetMax>"
            f"<RetStart>0</RetStart><QueryKey>1</QueryKey><WebEnv>{env}</WebEnv>"
            f"<IdList>{ids}</IdList><TranslationSet/>{errors}</eSearchResult>"
        )

    def efetch(self, asked):
        if "WebEnv" in asked:
            start, most = int(asked["retstart"]), int(asked["retmax"])
            found = self._history[asked["WebEnv"], asked["query_key"]][start : start + most]
            if not found:
                return "<eFetchResult><ERROR>Empty result - nothing to do</ERROR></eFetchResult>"
        else:
            found = [int(pmid) for pmid in asked["id"].split(",")]
        return page(*(self.records[pmid] for pmid in found if pmid in self.records))

    def elink(self, asked):
        assert (asked["dbfrom"], asked["cmd"]) == ("pubmed", "neighbor_score")
        seeds = [int(pmid) for pmid in asked["id"].split(",")]
        near = [pmid for seed in seeds for pmid in self.near.get(seed, ())]
        links = "".join(
            f"<Link><Id>{pmid}</Id><Score>{1000 - place}</Score></Link>"
            for place, pmid in enumerate(near)
        )
        ids = "".join(f"<Id>{pmid}</Id>" for pmid in seeds)
        return (
            f'<?xml version="1.0" encoding="UTF-8" ?><eLinkResult><LinkSet><DbFrom>pubmed</DbFrom>'
            f"<IdList>{ids}</IdList><LinkSetDb><DbTo>pubmed</DbTo>"
            f"<LinkName>pubmed_pubmed</LinkName>{links}</LinkSetDb></LinkSet></eLinkResult>"
        )


def page(*records, doctype=DOCTYPE):
    inner = "".join(records)
    return f'<?xml version="1.0" ?>{doctype}<PubmedArticleSet>{inner}</PubmedArticleSet>'


def article(pmid, title="A title.", abstract="An abstract.", *, vernacular="", authors=""):
    """Write a record as PubMed does; `abstract` may be XML of sections."""
    if abstract and not abstract.startswith("<"):
        abstract = f"<AbstractText>{abstract}</AbstractText>"
    told = f"<Abstract>{abstract}<CopyrightInformation>© 2020.</CopyrightInformation></Abstract>"
    return f"""
    <PubmedArticle><MedlineCitation Status="MEDLINE" IndexingMethod="Automated" Owner="NLM">
      <PMID Version="1">{pmid}</PMID>
      <DateRevised><Year>2024</Year><Month>01</Month><Day>31</Day></DateRevised>
      <Article PubModel="Print-Electronic">
        <Journal><ISSN IssnType="Electronic">1468-2060</ISSN><JournalIssue><PubDate>
          <Year>2024</Year></PubDate></JournalIssue><Title>A journal</Title></Journal>
        <ArticleTitle>{title}</ArticleTitle>
        {told if abstract else ""}
        <AuthorList CompleteYN="Y"><Author ValidYN="Y"><LastName>Muñoz</LastName>
          <ForeName>Ana</ForeName><Initials>A</Initials></Author>{authors}</AuthorList>
        <Language>eng</Language>{vernacular}
      </Article>
      <OtherAbstract Type="Publisher" Language="spa">
        <AbstractText>Otro.</AbstractText></OtherAbstract>
      <CommentsCorrectionsList><CommentsCorrections RefType="CommentIn">
        <RefSource>J. 2021</RefSource>
        <PMID Version="1">99999999</PMID></CommentsCorrections></CommentsCorrectionsList>
    </MedlineCitation>
    <PubmedData><PublicationStatus>ppublish</PublicationStatus><ArticleIdList>
      <ArticleId IdType="pubmed">{pmid}</ArticleId><ArticleId IdType="doi">10.1/{pmid}</ArticleId>
    </ArticleIdList><ReferenceList><Reference><Citation>Another.</Citation><ArticleIdList>
      <ArticleId IdType="pubmed">88888888</ArticleId></ArticleIdList></Reference></ReferenceList>
    </PubmedData></PubmedArticle>"""


def book(pmid, title, abstract, book_title="A book"):
    head = f'<ArticleTitle book="b" part="p">{title}</ArticleTitle>' if title else ""
    return f"""
    <PubmedBookArticle><BookDocument><PMID Version="1">{pmid}</PMID>
      <ArticleIdList><ArticleId IdType="bookaccession">NBK1116</ArticleId></ArticleIdList>
      <Book><Publisher><PublisherName>University</PublisherName></Publisher>
        <BookTitle book="b">{book_title}</BookTitle></Book>
      {head}<Language>eng</Language>
      <Abstract><AbstractText Label="CLINICAL CHARACTERISTICS">{abstract}</AbstractText></Abstract>
    </BookDocument><PubmedBookData/></PubmedBookArticle>"""
