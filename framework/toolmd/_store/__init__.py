"""The store: what the processes of a project share, on a SQLite file or on Postgres."""

STORE_FILE = "store.sqlite3"
"""The file in the state folder, with `store` set to `sqlite`."""
