"""The health log's tables, version by version."""


def _table(name: str, columns: str) -> str:
    return (
        f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, person TEXT NOT NULL, key TEXT NOT NULL, "
        f"day TEXT NOT NULL, at TEXT NOT NULL, {columns}, UNIQUE (person, key)) STRICT"
    )


_FIRST = (
    _table("check_in", "mood TEXT NOT NULL"),
    _table("medication", "name TEXT NOT NULL, dose TEXT"),
    _table(
        "blood_pressure",
        """systolic INTEGER NOT NULL, diastolic INTEGER NOT NULL,
        pulse INTEGER, position TEXT, notes TEXT,
        CHECK (diastolic < systolic)""",
    ),
    _table("hydration", "amount_ml INTEGER NOT NULL CHECK (amount_ml > 0), notes TEXT"),
    # `days` are ISO weekdays, Monday 1 to Sunday 7, such as "1,2,7".
    _table(
        "reminder",
        "title TEXT NOT NULL, time TEXT NOT NULL, days TEXT NOT NULL, kind TEXT, description TEXT",
    ),
)

_SECOND = (
    _table("doctor_visit", "kind TEXT NOT NULL, visited_on TEXT NOT NULL, notes TEXT"),
    _table(
        "clinical_date",
        """falls_on TEXT NOT NULL, description TEXT NOT NULL, kind TEXT, location TEXT,
        provider TEXT, preparation TEXT, remind INTEGER NOT NULL CHECK (remind IN (0, 1))""",
    ),
    _table(
        "care_log",
        """kind TEXT NOT NULL, title TEXT NOT NULL, occurred_at TEXT NOT NULL,
        diagnosis TEXT, treatment TEXT, notes TEXT, minutes INTEGER,
        location_kind TEXT, location TEXT""",
    ),
    # A medical record is permanent, for this program and for any other that opens the file.
    """CREATE TRIGGER care_log_is_not_changed BEFORE UPDATE ON care_log
        BEGIN SELECT RAISE(ABORT, 'a care log is permanent: it cannot be changed'); END""",
    """CREATE TRIGGER care_log_is_not_deleted BEFORE DELETE ON care_log
        BEGIN SELECT RAISE(ABORT, 'a care log is permanent: it cannot be deleted'); END""",
    # INSERT OR REPLACE deletes a row without firing the trigger above.
    """CREATE TRIGGER care_log_is_not_replaced BEFORE INSERT ON care_log
        WHEN EXISTS (
            SELECT 1 FROM care_log
            WHERE id = NEW.id OR (person = NEW.person AND key = NEW.key)
        )
        BEGIN SELECT RAISE(ABORT, 'a care log is permanent: it cannot be replaced'); END""",
)

_THIRD = tuple(
    f"CREATE INDEX {table}_of_day ON {table} (person, {column})"
    for table, column in (
        ("check_in", "day"),
        ("medication", "day"),
        ("blood_pressure", "day"),
        ("hydration", "day"),
        ("doctor_visit", "day"),
        ("care_log", "day"),
        ("clinical_date", "falls_on"),
    )
)

_FOURTH = (
    "ALTER TABLE reminder ADD COLUMN ended_at TEXT",
    "ALTER TABLE reminder ADD COLUMN snoozed_until TEXT",
    # The key of the call that snoozed it last: a retry must not snooze it for longer.
    "ALTER TABLE reminder ADD COLUMN snoozed_by TEXT",
    # Visits and care logs belong to the day on which they happened.
    "DROP INDEX doctor_visit_of_day",
    "DROP INDEX care_log_of_day",
    "CREATE INDEX doctor_visit_of_day ON doctor_visit (person, visited_on)",
    "CREATE INDEX care_log_of_day ON care_log (person, occurred_at)",
)

UNDONE = (
    "check_in",
    "medication",
    "blood_pressure",
    "hydration",
    "symptom",
    "doctor_visit",
    "clinical_date",
)
"""The tables whose entries can be undone; a care log is permanent."""

_FIFTH = (
    _table("symptom", "name TEXT NOT NULL, severity TEXT, notes TEXT"),
    "CREATE INDEX symptom_of_day ON symptom (person, day)",
    "ALTER TABLE medication ADD COLUMN taken_at TEXT",
    *(f"ALTER TABLE {table} ADD COLUMN undone_at TEXT" for table in UNDONE),
    # What was delivered, so that no reminder comes twice.
    """CREATE TABLE delivery (
        person TEXT NOT NULL, what TEXT NOT NULL, due TEXT NOT NULL,
        PRIMARY KEY (person, what, due)
    ) STRICT""",
)

MIGRATIONS = (_FIRST, _SECOND, _THIRD, _FOURTH, _FIFTH)
"""The statements that upgrade each version of the file (`PRAGMA user_version`) to the next."""
