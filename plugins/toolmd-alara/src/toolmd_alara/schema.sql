-- The health log's tables. Each entry belongs to a person, and has the key of the call that wrote it,
-- the person's day and the time of writing. An undone entry stays in the file.

CREATE TABLE check_in (
    id INTEGER PRIMARY KEY, person TEXT NOT NULL, key TEXT NOT NULL, day TEXT NOT NULL, at TEXT NOT NULL,
    mood TEXT NOT NULL, undone_at TEXT, UNIQUE (person, key)
) STRICT;

CREATE TABLE medication (
    id INTEGER PRIMARY KEY, person TEXT NOT NULL, key TEXT NOT NULL, day TEXT NOT NULL, at TEXT NOT NULL,
    name TEXT NOT NULL, dose TEXT, taken_at TEXT, undone_at TEXT, UNIQUE (person, key)
) STRICT;

CREATE TABLE blood_pressure (
    id INTEGER PRIMARY KEY, person TEXT NOT NULL, key TEXT NOT NULL, day TEXT NOT NULL, at TEXT NOT NULL,
    systolic INTEGER NOT NULL, diastolic INTEGER NOT NULL, pulse INTEGER, position TEXT, notes TEXT,
    undone_at TEXT, UNIQUE (person, key), CHECK (diastolic < systolic)
) STRICT;

CREATE TABLE hydration (
    id INTEGER PRIMARY KEY, person TEXT NOT NULL, key TEXT NOT NULL, day TEXT NOT NULL, at TEXT NOT NULL,
    amount_ml INTEGER NOT NULL CHECK (amount_ml > 0), notes TEXT, undone_at TEXT, UNIQUE (person, key)
) STRICT;

CREATE TABLE symptom (
    id INTEGER PRIMARY KEY, person TEXT NOT NULL, key TEXT NOT NULL, day TEXT NOT NULL, at TEXT NOT NULL,
    name TEXT NOT NULL, severity TEXT, notes TEXT, undone_at TEXT, UNIQUE (person, key)
) STRICT;

CREATE TABLE doctor_visit (
    id INTEGER PRIMARY KEY, person TEXT NOT NULL, key TEXT NOT NULL, day TEXT NOT NULL, at TEXT NOT NULL,
    kind TEXT NOT NULL, visited_on TEXT NOT NULL, notes TEXT, undone_at TEXT, UNIQUE (person, key)
) STRICT;

CREATE TABLE clinical_date (
    id INTEGER PRIMARY KEY, person TEXT NOT NULL, key TEXT NOT NULL, day TEXT NOT NULL, at TEXT NOT NULL,
    falls_on TEXT NOT NULL, description TEXT NOT NULL, kind TEXT, location TEXT, provider TEXT,
    preparation TEXT, remind INTEGER NOT NULL CHECK (remind IN (0, 1)), undone_at TEXT,
    UNIQUE (person, key)
) STRICT;

CREATE TABLE care_log (
    id INTEGER PRIMARY KEY, person TEXT NOT NULL, key TEXT NOT NULL, day TEXT NOT NULL, at TEXT NOT NULL,
    kind TEXT NOT NULL, title TEXT NOT NULL, occurred_at TEXT NOT NULL, diagnosis TEXT, treatment TEXT,
    notes TEXT, minutes INTEGER, location_kind TEXT, location TEXT, UNIQUE (person, key)
) STRICT;

-- `days` are ISO weekdays, Monday 1 to Sunday 7, such as "1,2,7". `snoozed_by` is the key of the call
-- that snoozed it last: a retry must not snooze it for longer.
CREATE TABLE reminder (
    id INTEGER PRIMARY KEY, person TEXT NOT NULL, key TEXT NOT NULL, day TEXT NOT NULL, at TEXT NOT NULL,
    title TEXT NOT NULL, time TEXT NOT NULL, days TEXT NOT NULL, kind TEXT, description TEXT,
    ended_at TEXT, snoozed_until TEXT, snoozed_by TEXT, UNIQUE (person, key)
) STRICT;

-- What was delivered, so that no reminder comes twice.
CREATE TABLE delivery (
    person TEXT NOT NULL, what TEXT NOT NULL, due TEXT NOT NULL, PRIMARY KEY (person, what, due)
) STRICT;

CREATE INDEX check_in_of_day ON check_in (person, day);
CREATE INDEX medication_of_day ON medication (person, day);
CREATE INDEX blood_pressure_of_day ON blood_pressure (person, day);
CREATE INDEX hydration_of_day ON hydration (person, day);
CREATE INDEX symptom_of_day ON symptom (person, day);
CREATE INDEX doctor_visit_of_day ON doctor_visit (person, visited_on);
CREATE INDEX clinical_date_of_day ON clinical_date (person, falls_on);
CREATE INDEX care_log_of_day ON care_log (person, occurred_at);

-- A medical record is permanent, for this program and for any other that opens the file.
CREATE TRIGGER care_log_is_not_changed BEFORE UPDATE ON care_log
    BEGIN SELECT RAISE(ABORT, 'a care log is permanent: it cannot be changed'); END;
CREATE TRIGGER care_log_is_not_deleted BEFORE DELETE ON care_log
    BEGIN SELECT RAISE(ABORT, 'a care log is permanent: it cannot be deleted'); END;
-- INSERT OR REPLACE deletes a row without firing the trigger above.
CREATE TRIGGER care_log_is_not_replaced BEFORE INSERT ON care_log
    WHEN EXISTS (
        SELECT 1 FROM care_log WHERE id = NEW.id OR (person = NEW.person AND key = NEW.key)
    )
    BEGIN SELECT RAISE(ABORT, 'a care log is permanent: it cannot be replaced'); END;
