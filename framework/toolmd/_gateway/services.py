"""The web services of a project: their tables, and their operations as they were accepted."""

import asyncio
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from toolmd._gateway.pins import differences, key_of, look, name_of, read_pins
from toolmd._types.remote import Operation
from toolmd._types.settings import ServiceSettings, Settings
from toolmd.errors import SuspendedToolError

if TYPE_CHECKING:
    from toolmd._store.records import Pin
    from toolmd._store.store import Store


_TABLES = "[services]"
"""Where the pins have the tables of all services; `[services.NAME]` has the operations of one."""


class Services:
    """The services that a project's tools call, and what was accepted of them."""

    def __init__(self, settings: Settings, store: "Store") -> None:
        """Keep the settings, and the store of what was accepted."""
        self.tables: Mapping[str, ServiceSettings] = settings.services
        self._store = store
        self._texts = {name: _text(table) for name, table in settings.services.items()}

    async def check(self, operation: Operation) -> None:
        """Pin the table of an operation's service at its first call.

        Raises SuspendedToolError where the table or the published operation has changed since.
        """
        name = name_of(operation, self.tables)
        table, own = await read_pins(self._store, (_TABLES, name), _pin_name(name, operation))
        if table is None:
            table = await asyncio.to_thread(self._seen, name)
        for what, _, _ in self._changed(operation, table, own):
            # The difference holds foreign text, so the operator reads it and no model.
            message = f"{what} changed since it was accepted. Nothing was sent."
            raise SuspendedToolError(f"{message} An operator must look: toolmd servers {name}")

    def changes(self, operation: Operation) -> tuple[str, ...]:
        """Return how the table and the operation differ from the accepted ones; it blocks."""
        name = name_of(operation, self.tables)
        table, own = self._store.pins.get((_TABLES, name), _pin_name(name, operation))
        found = self._changed(operation, table, own)
        return tuple(line for _, old, new in found for line in differences(old, new))

    def changed(self, operations: Iterable[Operation]) -> Collection[Operation]:
        """Return the operations that changed, as `check` finds them; it blocks."""
        named = {one: name_of(one, self.tables) for one in operations}
        tables = self._store.pins.of(_TABLES) if named else {}
        pins = {name: self._store.pins.of(_place(name)) for name in {*named.values()}}
        return {
            one
            for one, name in named.items()
            if any(self._changed(one, tables.get(name), pins[name].get(key_of(one))))
        }

    def _changed(
        self, operation: Operation, table: "Pin | None", own: "Pin | None"
    ) -> Iterator[tuple[str, str, str]]:
        """Yield what changed, how it was accepted, and how it is now."""
        name = name_of(operation, self.tables)
        now = self._texts.get(name)
        if table is not None and now is not None and table.accepted != now:
            yield _place(name), table.accepted, now
        if own is not None and own.is_changed:
            yield str(operation), own.accepted, own.seen

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
            self._store.pins.accept(_TABLES, {name: self._texts[name]})
        table = self._seen(name)
        assert table is not None  # a table that is wanted is pinned
        changes = [*differences(table.accepted, table.seen)] if table.is_changed else []
        state = "changed" if table.is_changed else "accepted"
        place = _place(name)
        row: dict[str, Any] = {"tool": place, "file": None, "state": state, "changes": changes}
        if published is None:
            return [row]
        return [row, *look(self._store, place, files, published, accept=accept)]

    def _seen(self, name: str) -> "Pin | None":
        """Note the tables as they are now, and return the pin of one."""
        return self._store.pins.see(_TABLES, self._texts, (name,)).get(name)


def _text(table: ServiceSettings) -> str:
    auth = [[one.kind, *one.variables, one.name] for one in table.auth]
    meant = {"url": table.url, "headers": dict(table.headers), "auth": auth}
    return json.dumps(meant, sort_keys=True)


def _place(name: str) -> str:
    return f"[services.{name}]"


def _pin_name(name: str, operation: Operation) -> tuple[str, str]:
    return _place(name), key_of(operation)
