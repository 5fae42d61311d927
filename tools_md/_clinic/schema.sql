-- The clinic's tables.

CREATE TABLE opening_hours (
    weekday INTEGER NOT NULL CHECK (weekday BETWEEN 0 AND 6),
    opens   TEXT NOT NULL,
    closes  TEXT NOT NULL CHECK (closes > opens),
    PRIMARY KEY (weekday, opens)
) STRICT, WITHOUT ROWID;

CREATE TABLE closed_day (
    day    TEXT PRIMARY KEY,
    reason TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE service (
    code        TEXT PRIMARY KEY,
    name        TEXT NOT NULL,
    description TEXT NOT NULL,
    price_usd   REAL NOT NULL CHECK (price_usd >= 0),
    position    INTEGER NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;

CREATE TABLE preparation (
    service  TEXT NOT NULL REFERENCES service (code),
    kind     TEXT NOT NULL CHECK (kind IN ('do', 'bring')),
    position INTEGER NOT NULL,
    text     TEXT NOT NULL,
    PRIMARY KEY (service, kind, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE patient (
    id                 TEXT PRIMARY KEY,
    parent_name        TEXT NOT NULL,
    phone_number       TEXT NOT NULL,
    insurance_provider TEXT,
    member_id          TEXT,
    CHECK ((insurance_provider IS NULL) = (member_id IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE child (
    id         INTEGER PRIMARY KEY,
    patient_id TEXT NOT NULL REFERENCES patient (id),
    name       TEXT NOT NULL COLLATE NOCASE,
    birth_date TEXT NOT NULL,
    allergies  TEXT NOT NULL DEFAULT '',
    UNIQUE (patient_id, name)
) STRICT;

-- A page of the appointment book that has been laid out; its slots are then fixed.
CREATE TABLE open_day (
    day TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- One chair for one half hour.
CREATE TABLE slot (
    starts_at TEXT NOT NULL,
    chair     INTEGER NOT NULL,
    PRIMARY KEY (starts_at, chair)
) STRICT, WITHOUT ROWID;

CREATE TABLE appointment (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    patient_id       TEXT NOT NULL REFERENCES patient (id),
    starts_at        TEXT NOT NULL,
    appointment_type TEXT NOT NULL REFERENCES service (code),
    status           TEXT NOT NULL DEFAULT 'booked' CHECK (status IN ('booked', 'cancelled')),
    cancel_reason    TEXT,
    booked_at        TEXT NOT NULL,
    idempotency_key  TEXT UNIQUE,
    request          TEXT NOT NULL
) STRICT;

CREATE INDEX appointment_by_patient ON appointment (patient_id, starts_at);

CREATE TABLE appointment_child (
    appointment_id INTEGER NOT NULL REFERENCES appointment (id),
    child_id       INTEGER NOT NULL REFERENCES child (id),
    PRIMARY KEY (appointment_id, child_id)
) STRICT, WITHOUT ROWID;

-- A slot that is taken. The primary key is the promise that nobody books it twice, and the
-- unique pair that no child sits in two chairs at once.
CREATE TABLE seat (
    starts_at      TEXT NOT NULL,
    chair          INTEGER NOT NULL,
    appointment_id INTEGER NOT NULL,
    child_id       INTEGER NOT NULL,
    PRIMARY KEY (starts_at, chair),
    UNIQUE (starts_at, child_id),
    FOREIGN KEY (starts_at, chair) REFERENCES slot (starts_at, chair),
    FOREIGN KEY (appointment_id, child_id)
        REFERENCES appointment_child (appointment_id, child_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX seat_by_appointment ON seat (appointment_id);

CREATE TABLE note (
    id              INTEGER PRIMARY KEY,
    appointment_id  INTEGER NOT NULL REFERENCES appointment (id),
    text            TEXT NOT NULL CHECK (text <> ''),
    written_at      TEXT NOT NULL,
    idempotency_key TEXT UNIQUE
) STRICT;

CREATE TABLE message (
    id              INTEGER PRIMARY KEY,
    phone_number    TEXT NOT NULL,
    body            TEXT NOT NULL,
    status          TEXT NOT NULL CHECK (status IN ('queued', 'kept', 'sent', 'failed')),
    written_at      TEXT NOT NULL,
    idempotency_key TEXT UNIQUE
) STRICT;

-- Staff read booking numbers out on the phone: four digits from the first one on.
INSERT INTO sqlite_sequence (name, seq) VALUES ('appointment', 1000);
