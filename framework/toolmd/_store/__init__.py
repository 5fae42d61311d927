"""The store: what the processes of a project share, on a SQLite file or on Postgres."""

MEMORY = "memory"
"""The value of the setting `store` whose records end with the process."""
STORE_FILE = "store.sqlite3"
"""The file in the state folder, with `store` set to `sqlite`."""

LEASE_S = 15.0
"""How long a place of a dead process stays taken, in seconds."""


def is_postgres(store: str) -> bool:
    """Return whether the setting `store` names a Postgres."""
    return store.startswith(("postgresql://", "postgres://"))
