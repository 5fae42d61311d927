"""Read the papers that searches stored."""

import sqlite3


def stored(workspace):
    """Return the owner, number, title and abstract of each paper."""
    with sqlite3.connect(workspace.settings.state / "litreview.sqlite3") as db:
        rows = db.execute("SELECT owner, pmid, title, abstract FROM candidate_papers").fetchall()
    db.close()
    return [(owner.partition("/")[0], *rest) for owner, *rest in rows]
