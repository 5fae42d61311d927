"""The review's tables, version by version."""

_FIRST = (
    # `vector` is float32; it counts only while `embedder` is the model in use.
    """CREATE TABLE candidate_papers (
        owner TEXT NOT NULL, pmid INTEGER NOT NULL CHECK (pmid > 0),
        title TEXT NOT NULL, abstract TEXT NOT NULL, added_at TEXT NOT NULL,
        vector BLOB, embedder TEXT, cluster_id TEXT,
        PRIMARY KEY (owner, pmid)
    ) STRICT""",
    "CREATE INDEX paper_of_cluster ON candidate_papers (owner, cluster_id)",
    """CREATE TABLE cluster (
        owner TEXT NOT NULL, cluster_id TEXT NOT NULL,
        label TEXT NOT NULL, embedder TEXT NOT NULL, centroid BLOB NOT NULL,
        PRIMARY KEY (owner, cluster_id)
    ) STRICT""",
    """CREATE TABLE search (
        owner TEXT NOT NULL, query TEXT NOT NULL, expand_mode TEXT NOT NULL,
        retmax INTEGER NOT NULL, found INTEGER NOT NULL, kept INTEGER NOT NULL, at TEXT NOT NULL,
        PRIMARY KEY (owner, query, expand_mode)
    ) STRICT""",
    # The key covers the model and the text, so a changed abstract is extracted again.
    """CREATE TABLE extraction (key TEXT PRIMARY KEY, fields TEXT NOT NULL) STRICT""",
)

_GOALS = (
    """CREATE TABLE goal_state (
        owner TEXT NOT NULL, handbook_id TEXT NOT NULL, seed_query TEXT NOT NULL, parent TEXT,
        status TEXT NOT NULL DEFAULT 'open', last TEXT NOT NULL DEFAULT '',
        eligibility TEXT NOT NULL DEFAULT '', selection TEXT NOT NULL DEFAULT '',
        at TEXT NOT NULL, turn INTEGER NOT NULL,
        PRIMARY KEY (owner, handbook_id)
    ) STRICT""",
    "ALTER TABLE search ADD COLUMN not_found TEXT NOT NULL DEFAULT ''",
)

_DECISIONS = (
    *(
        f"ALTER TABLE candidate_papers ADD COLUMN {column} TEXT NOT NULL DEFAULT ''"
        for column in ("year", "journal", "doi")
    ),
    # Papers, clusters and searches belong to a review of a person, no longer to all of them.
    *(
        f"UPDATE {table} SET owner = owner || '/' || coalesce((SELECT handbook_id FROM goal_state "  # noqa: S608 - ours
        f"WHERE goal_state.owner = {table}.owner ORDER BY turn DESC LIMIT 1), '')"
        for table in ("candidate_papers", "cluster", "search")
    ),
    """CREATE TABLE decision (
        owner TEXT NOT NULL, pmid INTEGER NOT NULL,
        decision TEXT NOT NULL CHECK (decision IN ('include', 'exclude')),
        reason TEXT NOT NULL, person TEXT NOT NULL, at TEXT NOT NULL,
        PRIMARY KEY (owner, pmid)
    ) STRICT""",
)

MIGRATIONS = (_FIRST, _GOALS, _DECISIONS)
"""The statements that upgrade each version of the file (`PRAGMA user_version`) to the next."""
