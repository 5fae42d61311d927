"""The patient store's tables, version by version."""

_PROVENANCE = "system TEXT NOT NULL, updated TEXT NOT NULL"
_OWNED = """
    number   INTEGER PRIMARY KEY,
    resource INTEGER NOT NULL REFERENCES resource (number) ON DELETE CASCADE,
    patient  INTEGER NOT NULL REFERENCES patient (number) ON DELETE CASCADE
"""

# Each `at` is the first instant of the recorded date, in microseconds since 1970 (UTC).
_RECORDS = (
    # A number is never reused: a patient's number names the file of the note index.
    """CREATE TABLE patient (
        number     INTEGER PRIMARY KEY AUTOINCREMENT,
        id         TEXT NOT NULL UNIQUE,
        server     TEXT,
        birth_date TEXT
    ) STRICT""",
    """CREATE TABLE resource (
        number     INTEGER PRIMARY KEY,
        type       TEXT NOT NULL,
        id         TEXT NOT NULL,
        patient    INTEGER NOT NULL REFERENCES patient (number) ON DELETE CASCADE,
        updated_at INTEGER NOT NULL,
        digest     TEXT NOT NULL,
        UNIQUE (type, id)
    ) STRICT""",
    f"""CREATE TABLE lab ({_OWNED},
        code TEXT NOT NULL, display TEXT NOT NULL, value ANY NOT NULL, unit TEXT NOT NULL,
        reference_range TEXT, at INTEGER NOT NULL, effective TEXT NOT NULL, {_PROVENANCE}
    ) STRICT""",
    f"""CREATE TABLE vital ({_OWNED},
        type TEXT NOT NULL CHECK (type IN ('Weight', 'BP', 'BMI')),
        value ANY NOT NULL, unit TEXT NOT NULL,
        at INTEGER NOT NULL, effective TEXT NOT NULL, {_PROVENANCE}
    ) STRICT""",
    f"""CREATE TABLE medication ({_OWNED},
        name TEXT NOT NULL, dose TEXT NOT NULL, route TEXT NOT NULL, frequency TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('active', 'stopped')),
        at INTEGER, start_date TEXT, {_PROVENANCE}
    ) STRICT""",
    f"""CREATE TABLE problem ({_OWNED},
        text TEXT NOT NULL, status TEXT NOT NULL CHECK (status IN ('active', 'resolved')),
        at INTEGER, onset TEXT, {_PROVENANCE}
    ) STRICT""",
    f"""CREATE TABLE note ({_OWNED},
        id TEXT NOT NULL, title TEXT NOT NULL, service TEXT, summary TEXT,
        text TEXT NOT NULL, digest TEXT NOT NULL,
        at INTEGER NOT NULL, date TEXT NOT NULL, {_PROVENANCE}
    ) STRICT""",
)

_LOOK_UPS = (
    "CREATE INDEX resource_of_patient ON resource (patient)",
    "CREATE INDEX newest_lab ON lab (patient, code, at DESC)",
    "CREATE INDEX newest_vital ON vital (patient, type, at DESC)",
    "CREATE INDEX newest_medication ON medication (patient, status, at DESC)",
    "CREATE INDEX newest_problem ON problem (patient, status, at DESC)",
    "CREATE INDEX newest_note ON note (patient, at DESC)",
    # Items of a resource are deleted when it is replaced.
    *(
        f"CREATE INDEX {table}_of_resource ON {table} (resource)"
        for table in ("lab", "vital", "medication", "problem", "note")
    ),
)

MIGRATIONS = (_RECORDS, _LOOK_UPS)
"""The statements that upgrade each version of the file (`PRAGMA user_version`) to the next."""
