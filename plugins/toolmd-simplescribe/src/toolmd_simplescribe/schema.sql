-- The patients' records. Files of earlier versions lack what is left out: their records are loaded again.
DROP TABLE IF EXISTS lab;
DROP TABLE IF EXISTS vital;
DROP TABLE IF EXISTS medication;
DROP TABLE IF EXISTS problem;
DROP TABLE IF EXISTS note;
DROP TABLE IF EXISTS resource;
DROP TABLE IF EXISTS patient;

-- A number is never reused: a patient's number names the file of the note index.
CREATE TABLE patient (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    server     TEXT,
    birth_date TEXT
) STRICT;

CREATE TABLE resource (
    number     INTEGER PRIMARY KEY,
    type       TEXT NOT NULL,
    id         TEXT NOT NULL,
    patient    INTEGER NOT NULL REFERENCES patient (number) ON DELETE CASCADE,
    updated_at INTEGER NOT NULL,
    digest     TEXT NOT NULL,
    UNIQUE (type, id)
) STRICT;

CREATE TABLE item (
    number   INTEGER PRIMARY KEY,
    resource INTEGER NOT NULL REFERENCES resource (number) ON DELETE CASCADE,
    patient  INTEGER NOT NULL REFERENCES patient (number) ON DELETE CASCADE,
    kind     TEXT NOT NULL,
    key      TEXT NOT NULL,
    at       INTEGER,
    body     TEXT NOT NULL,
    text     TEXT NOT NULL
) STRICT;

CREATE TABLE omission (
    resource INTEGER NOT NULL REFERENCES resource (number) ON DELETE CASCADE,
    patient  INTEGER NOT NULL REFERENCES patient (number) ON DELETE CASCADE,
    kind     TEXT NOT NULL,
    name     TEXT NOT NULL,
    reason   TEXT NOT NULL
) STRICT;

CREATE INDEX resource_of_patient ON resource (patient);
CREATE INDEX newest_item ON item (patient, kind, key, at DESC);
CREATE INDEX omission_of_patient ON omission (patient, kind);
-- Items of a resource are deleted when it is replaced.
CREATE INDEX item_of_resource ON item (resource);
CREATE INDEX omission_of_resource ON omission (resource);
