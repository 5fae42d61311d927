"""Keep the definition of each MCP server's tool as it was accepted, and as it was seen last."""

import time
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

import sqlalchemy as sa

from toolmd._store.database import upsert_of
from toolmd._store.opened import StorePart

GONE = ""
"""What was seen of a tool that the server does not list any more."""


class Pin(NamedTuple):
    """The definition of one tool, as canonical JSON."""

    tool: str
    accepted: str
    seen: str
    """The newest definition; GONE where the server does not list the tool once."""

    @property
    def is_changed(self) -> bool:
        """Return whether the tool differs from what was accepted."""
        return self.seen != self.accepted


class SqlPins(StorePart[sa.Table]):
    """The pinned tools of a project's servers, in its database."""

    connections = 2

    @staticmethod
    def define(metadata: sa.MetaData) -> sa.Table:
        """Define the table."""
        return sa.Table(
            "toolmd_remote_tool", metadata,
            sa.Column("server", sa.Text, primary_key=True),
            sa.Column("tool", sa.Text, primary_key=True),
            sa.Column("accepted", sa.Text, nullable=False),
            sa.Column("seen", sa.Text, nullable=False),
            sa.Column("since", sa.Double, nullable=False),
        )  # fmt: skip

    def of(self, server: str, tools: Collection[str] | None = None) -> Mapping[str, Pin]:
        """Return the pins of a server, or of these tools, by the server's names of the tools."""
        with self.transaction() as connection:
            return self._all(connection, server, tools)

    def see(
        self, server: str, seen: Mapping[str, str], wanted: Collection[str]
    ) -> Mapping[str, Pin]:
        """Note what a server lists now, and return its pins.

        A wanted tool without a pin is pinned as it is. `seen` are the definitions by name.
        """
        with self.transaction() as connection:
            there = self._all(connection, server)
            rows = [
                (tool, pin.accepted, seen.get(tool, GONE))
                for tool, pin in there.items()
                if seen.get(tool, GONE) != pin.seen
            ]
            rows += [(t, seen[t], seen[t]) for t in wanted if t not in there and t in seen]
            self._write(connection, server, rows)
            return self._all(connection, server)

    def accept(self, server: str, definitions: Mapping[str, str]) -> None:
        """Pin tools as these definitions; a tool whose definition is GONE is not pinned."""
        rows = [(tool, text, text) for tool, text in definitions.items() if text != GONE]
        gone = [tool for tool, text in definitions.items() if text == GONE]
        with self.transaction() as connection:
            self._write(connection, server, rows)
            table = self.tables
            here = sa.and_(table.c.server == server, table.c.tool.in_(gone))
            connection.execute(sa.delete(table).where(here))

    def _all(
        self, connection: sa.Connection, server: str, tools: Collection[str] | None = None
    ) -> Mapping[str, Pin]:
        table = self.tables
        wanted = sa.select(table).where(table.c.server == server)
        if tools is not None:
            wanted = wanted.where(table.c.tool.in_(tools))
        rows = connection.execute(wanted).all()
        return {row.tool: Pin(row.tool, row.accepted, row.seen) for row in rows}

    def _write(
        self, connection: sa.Connection, server: str, rows: Iterable[tuple[str, str, str]]
    ) -> None:
        for tool, accepted, seen in rows:
            row = upsert_of(connection)(self.tables).values(
                server=server, tool=tool, accepted=accepted, seen=seen, since=time.time()
            )
            connection.execute(row.on_conflict_do_update(
                index_elements=["server", "tool"],
                set_={name: row.excluded[name] for name in ("accepted", "seen", "since")},
            ))  # fmt: skip
