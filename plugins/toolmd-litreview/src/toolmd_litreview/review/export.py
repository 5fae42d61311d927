"""Write a review's papers as RIS, for reference managers, or as CSV, for spreadsheets."""

import csv
from io import StringIO

from toolmd_litreview.extraction import FIELDS
from toolmd_litreview.library import Library


def export(library: Library, user: str | None, handbook_id: str | None, form: str) -> str:
    """Return the candidates of a review, the current one by default, with the decisions."""
    shelf = library.of(user, handbook_id)
    decisions, papers = shelf.decisions(), shelf.papers()
    themes = {cluster.cluster_id: cluster.label for cluster in shelf.clusters()}
    rows = []
    fields: dict[int, dict[str, object]] = {}
    theme_of: dict[int, str] = {}
    for cluster_id, label in themes.items():
        theme_of |= dict.fromkeys((paper.pmid for paper in shelf.papers(cluster_id)), label)
        fields |= {row["pmid"]: row for row in library.read_lines(f"pico/{cluster_id}.jsonl")}
    for paper in papers:
        decided = decisions.get(paper.pmid)
        rows.append(
            paper._asdict()
            | {"theme": theme_of.get(paper.pmid, ""),
               "decision": decided.decision if decided else "",
               "reason": decided.reason if decided else ""}
            | {name: (fields.get(paper.pmid) or {}).get(name) or "" for name in FIELDS}
        )  # fmt: skip
    return _ris(rows) if form == "ris" else _csv(rows)


def _csv(rows: list[dict[str, object]]) -> str:
    text = StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\r\n")
        writer.writeheader()
        # A spreadsheet would run a text that begins like a formula.
        writer.writerows(
            {name: f"'{v}" if isinstance(v, str) and v[:1] in "=+-@\t" and v else v
             for name, v in row.items()} for row in rows
        )  # fmt: skip
    return text.getvalue()


def _ris(rows: list[dict[str, object]]) -> str:
    tags = {"TI": "title", "AB": "abstract", "PY": "year", "JO": "journal", "DO": "doi",
            "AN": "pmid", "KW": "theme", "N1": "reason"}  # fmt: skip
    return "".join(
        "TY  - JOUR\r\n"
        + "".join(
            f"{tag}  - {' '.join(str(row[name]).split())}\r\n"
            for tag, name in tags.items()
            if row[name]
        )
        + (f"C1  - {row['decision']}\r\n" if row["decision"] else "")
        + "ER  - \r\n"
        for row in rows
    )
