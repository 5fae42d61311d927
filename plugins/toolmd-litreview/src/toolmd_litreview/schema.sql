-- The review's tables. An owner is a person and a handbook, such as `ana/hb-0123456789ab`; in
-- `goal_state` it is the person.

-- `vector` is float32; it counts only while `embedder` is the model in use.
CREATE TABLE candidate_papers (
    owner TEXT NOT NULL, pmid INTEGER NOT NULL CHECK (pmid > 0),
    title TEXT NOT NULL, abstract TEXT NOT NULL,
    year TEXT NOT NULL, journal TEXT NOT NULL, doi TEXT NOT NULL, added_at TEXT NOT NULL,
    vector BLOB, embedder TEXT, cluster_id TEXT,
    PRIMARY KEY (owner, pmid)
) STRICT;
CREATE INDEX paper_of_cluster ON candidate_papers (owner, cluster_id);

CREATE TABLE cluster (
    owner TEXT NOT NULL, cluster_id TEXT NOT NULL,
    label TEXT NOT NULL, embedder TEXT NOT NULL, centroid BLOB NOT NULL,
    PRIMARY KEY (owner, cluster_id)
) STRICT;

CREATE TABLE search (
    owner TEXT NOT NULL, query TEXT NOT NULL, expand_mode TEXT NOT NULL, retmax INTEGER NOT NULL,
    found INTEGER NOT NULL, kept INTEGER NOT NULL, at TEXT NOT NULL, not_found TEXT NOT NULL,
    PRIMARY KEY (owner, query, expand_mode)
) STRICT;

-- The key covers the model and the text, so a changed abstract is extracted again.
CREATE TABLE extraction (key TEXT PRIMARY KEY, fields TEXT NOT NULL) STRICT;

CREATE TABLE goal_state (
    owner TEXT NOT NULL, handbook_id TEXT NOT NULL, seed_query TEXT NOT NULL, parent TEXT,
    status TEXT NOT NULL DEFAULT 'open', last TEXT NOT NULL DEFAULT '',
    eligibility TEXT NOT NULL DEFAULT '', selection TEXT NOT NULL DEFAULT '',
    at TEXT NOT NULL, turn INTEGER NOT NULL,
    PRIMARY KEY (owner, handbook_id)
) STRICT;

CREATE TABLE decision (
    owner TEXT NOT NULL, pmid INTEGER NOT NULL,
    decision TEXT NOT NULL CHECK (decision IN ('include', 'exclude')),
    reason TEXT NOT NULL, person TEXT NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (owner, pmid)
) STRICT;
