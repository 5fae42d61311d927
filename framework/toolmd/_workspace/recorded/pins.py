"""The definitions that a project accepted of its servers and services."""

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from toolmd._remote.services import key_of, name_of
from toolmd._store import is_postgres
from toolmd._store.store import Store
from toolmd._types.operation import read_operation
from toolmd._types.remote_tool import read_remote_tool
from toolmd._types.settings import Settings

if TYPE_CHECKING:
    from toolmd._store.records import Pin

Pins = Mapping[str, Mapping[str, "Pin"]]
"""By the place of the pins, such as a server's name, the pin of each tool."""


def project_pins(settings: Settings, *, offline: bool) -> Pins:
    """Return the pins of a project; none where no store is there yet.

    With `offline`, a store on another machine is not asked.
    """
    store = Store(settings.store, settings.state)
    if not store.may_hold_records or (offline and is_postgres(settings.store)):
        return {}
    try:
        return pins_of(settings, store)
    finally:
        store.close()


def put_pins(store: Store, pins: Pins) -> None:
    """Copy pins into another store, so that what changed since stays closed."""
    for place, known in pins.items():
        store.pins.accept(place, {tool: pin.accepted for tool, pin in known.items()})
        store.pins.see(place, {tool: pin.seen for tool, pin in known.items()}, ())


def definition_digest(calls: str, settings: Settings, pins: Pins) -> str:
    """Return the digest of the accepted definition of a server's tool or a service's operation.

    It is empty where none is known. `calls` is what Implemented By names.
    """
    if (remote := read_remote_tool(calls)) is not None:
        pin = pins.get(remote.server, {}).get(remote.tool)
    elif (operation := read_operation(calls)) is not None:
        place = f"[services.{name_of(operation, settings.services)}]"
        pin = pins.get(place, {}).get(key_of(operation))
    else:
        pin = None
    return "" if pin is None else hashlib.sha256(pin.accepted.encode()).hexdigest()


def pins_of(settings: Settings, store: Store) -> Pins:
    """Return the pins of all servers and services of a project from its store."""
    services = [f"[services.{name}]" for name in settings.services]
    places = [*settings.servers, *services, *(["[services]"] if services else [])]
    return {place: store.pins.of(place) for place in places}
