"""The last tick of each Schedule for which a run was started, by any process."""

import datetime as dt
from typing import Any

import sqlalchemy as sa

from toolmd._skills.engine.durable.tables import Tables


class Ticks:
    """The ticks of a database; blocking, and safe for threads and processes."""

    def __init__(self, engine: sa.Engine, tables: Tables, insert: Any) -> None:
        self._engine = engine
        self._table = tables.schedule
        self._insert = insert

    def last(self, skill: str, schedule: str) -> dt.datetime | None:
        """Return the last tick; None for a schedule that is new, or another than before."""
        c = self._table.c
        known = sa.select(c.tick).where(c.skill == skill, c.schedule == schedule)
        with self._engine.connect() as connection:
            tick = connection.execute(known).scalar()
        return None if tick is None else dt.datetime.fromtimestamp(tick, dt.UTC)

    def keep(self, skill: str, schedule: str, tick: dt.datetime) -> None:
        """Store a tick; a later one of the same schedule stays."""
        c = self._table.c
        row = {"skill": skill, "schedule": schedule, "tick": tick.timestamp()}
        insert = self._insert(self._table).values(row)
        newer = sa.or_(c.schedule != schedule, c.tick < row["tick"])
        upsert = insert.on_conflict_do_update(index_elements=["skill"], set_=row, where=newer)
        with self._engine.begin() as connection:
            connection.execute(upsert)
