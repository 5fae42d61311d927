"""The store of several machines: Postgres over TCP, with the extra `fleet`."""

from toolmd._fleet.database import PostgresDatabase

__all__ = ["PostgresDatabase"]
