"""The web services of a project: their tables, and their operations as they were accepted."""

import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from toolmd._gateway.pins import differences, key_of, look, name_of
from toolmd._types.remote import Operation
from toolmd._types.settings import ServiceSettings, Settings
from toolmd.errors import SuspendedToolError

if TYPE_CHECKING:
    from toolmd._store.records import Pin
    from toolmd._store.store import Store


_REFRESH_S = 300.0
"""How long the pins of a service are trusted: another process may look at its document."""
_FRESH_S = 1.0
_TABLES = "[services]"
"""Where the pins have the tables of all services; `[services.NAME]` has the operations of one."""


class Services:
    """The services that a project's tools call, and what was accepted of them."""

    def __init__(self, settings: Settings, store: "Store") -> None:
        """Keep the settings, and the store of what was accepted."""
        self.tables: Mapping[str, ServiceSettings] = settings.services
        self._store = store
        self._read: dict[str, tuple[float, tuple[Pin | None, Mapping[str, Pin]]]] = {}

    async def check(self, operation: Operation) -> None:
        """Pin the table of an operation's service at its first call.

        Raises SuspendedToolError where the table or the published operation has changed since.
        """
        import asyncio

        name = name_of(operation, self.tables)
        table, known = self._known(name, _REFRESH_S)
        if table is None or _is_changed(table, known, operation):
            # It may be new, or accepted meanwhile, perhaps by another process.
            table, known = await asyncio.to_thread(self._seen, name)
        for what, pin in ((f"[services.{name}]", table), (str(operation), _of(known, operation))):
            if pin is not None and pin.is_changed:
                # The difference holds foreign text, so the operator reads it and no model.
                message = f"{what} changed since it was accepted. Nothing was sent."
                raise SuspendedToolError(f"{message} An operator must look: toolmd servers {name}")

    def changes(self, operation: Operation) -> tuple[str, ...]:
        """Return how the table and the operation differ from the accepted ones; it blocks."""
        name = name_of(operation, self.tables)
        table, known = self._known(name, _FRESH_S)
        if table is None:
            pin = self._store.pins.of(_TABLES).get(name)
            table, known = self._keep(name, pin)
        found: list[str] = []
        if table is not None:
            found += differences(table.accepted, self._text(name))
        if (own := _of(known, operation)) is not None and own.is_changed:
            found += differences(own.accepted, own.seen)
        return tuple(found)

    def look(
        self,
        name: str,
        files: Mapping[str, str],
        published: Mapping[str, str] | None,
        *,
        accept: bool = False,
    ) -> list[dict[str, Any]]:
        """Return the rows of `pins.look` for a service's table and its operations; it blocks.

        `published` are the operations of its document; None for a service without one.
        """
        if accept:
            self._store.pins.accept(_TABLES, {name: self._text(name)})
        table, _ = self._seen(name)
        assert table is not None  # a table that is wanted is pinned
        changes = [*differences(table.accepted, table.seen)] if table.is_changed else []
        state = "changed" if table.is_changed else "accepted"
        place = f"[services.{name}]"
        row: dict[str, Any] = {"tool": place, "file": None, "state": state, "changes": changes}
        if published is None:
            return [row]
        return [row, *look(self._store, place, files, published, accept=accept)]

    def _known(self, name: str, seconds: float) -> "tuple[Pin | None, Mapping[str, Pin]]":
        since, read = self._read.get(name, (0.0, (None, {})))
        return read if time.monotonic() - since < seconds else (None, {})

    def _seen(self, name: str) -> "tuple[Pin | None, Mapping[str, Pin]]":
        """Note the tables as they are now, and return the pins of a service."""
        tables = {one: self._text(one) for one in self.tables}
        return self._keep(name, self._store.pins.see(_TABLES, tables, (name,)).get(name))

    def _keep(self, name: str, table: "Pin | None") -> "tuple[Pin | None, Mapping[str, Pin]]":
        read = (table, self._store.pins.of(f"[services.{name}]"))
        self._read[name] = (time.monotonic(), read)
        return read

    def _text(self, name: str) -> str:
        table = self.tables[name]
        auth = [[one.kind, *one.variables, one.name] for one in table.auth]
        meant = {"url": table.url, "headers": dict(table.headers), "auth": auth}
        return json.dumps(meant, sort_keys=True)


def _of(known: "Mapping[str, Pin]", operation: Operation) -> "Pin | None":
    return known.get(key_of(operation))


def _is_changed(table: "Pin", known: "Mapping[str, Pin]", operation: Operation) -> bool:
    own = _of(known, operation)
    return table.is_changed or (own is not None and own.is_changed)
