"""Runs that outlive their process: on a SQLite file, or on Postgres for several machines."""
