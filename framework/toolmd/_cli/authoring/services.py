"""Compare the operations of web services with their published documents, and accept them."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolmd._cli.authoring.sources import texts_of
from toolmd._types.imported import Draft, Imported
from toolmd.config import load_settings
from toolmd.errors import NotFoundError, UnreachableError

_URLS = ("http://", "https://")


def read_document(
    source: str, folder: Path | None, named: str, only: list[str]
) -> tuple[Imported, list[Any], Mapping[str, Mapping[str, str]]]:
    """Return the drafts of a document, the tables of its services, and their operations."""
    from toolmd._import.openapi import read_service

    ((name, text),) = texts_of("openapi", source)
    imported, tables = read_service(text, name, named, only)
    place = _document_of(name, folder)
    made = [table._replace(document=place) for table in tables]
    return imported, made, _published_of(text, imported.drafts)


def _document_of(name: str, folder: Path | None) -> str:
    """Return a document's path or URL as the settings name it; empty for standard input."""
    if name.startswith(_URLS):
        return name
    path, root = Path(name).absolute(), load_settings(folder).root.absolute()
    if not path.exists():
        return ""  # standard input
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def _published_of(text: str, drafts: Sequence[Draft]) -> Mapping[str, Mapping[str, str]]:
    """Return what a document says of each operation that a draft calls, by service."""
    from toolmd._gateway.services import key_of
    from toolmd._import.openapi import definitions_of
    from toolmd._types.operation import read_operation

    published = definitions_of(text)
    found: dict[str, dict[str, str]] = {}
    for draft in drafts:
        operation = read_operation(draft.implemented_by)
        if operation is not None and (key := key_of(operation)) in published:
            found.setdefault(operation.service, {})[key] = published[key]
    return found


def accept_operations(
    published: Mapping[str, Mapping[str, str]], folder: Path | None, left_out: Iterable[Draft]
) -> None:
    """Accept the imported operations: calls are denied once the document changes them.

    The operations of the drafts that were left out are not accepted.
    """
    from toolmd._gateway.services import Services, key_of
    from toolmd._store.store import Store
    from toolmd._types.operation import read_operation

    if not published:
        return
    settings = load_settings(folder)
    store = Store(settings.store, settings.state)
    try:
        operations = [read_operation(draft.implemented_by) for draft in left_out]
        unwritten = {(one.service, key_of(one)) for one in operations if one is not None}
        for name, definitions in published.items():
            accepted = {
                key: one for key, one in definitions.items() if (name, key) not in unwritten
            }
            Services(settings, store).accept(name, accepted)
    finally:
        store.close()


def services_of(settings: Any, document: str) -> list[str]:
    """Return the services of one document; the first has the name that the others begin with."""
    tables = settings.services.items()
    return sorted(name for name, table in tables if document and table.document == document)


def look_at_service(
    settings: Any, name: str, operations: Mapping[str, Mapping[str, str]], *, accept: bool
) -> dict[str, Any]:
    """Read a service's document; return its state as `look_at_server` does.

    An operation without a file is listed with the first service of its document only.

    Args:
        settings: The project's settings.
        name: The service's name there.
        operations: By service, the tool of each operation that a file names.
        accept: Whether to accept the operations with a file as they are now.
    """
    from toolmd._gateway.services import Services
    from toolmd._import.json_text import UnreadableSourceError
    from toolmd._import.openapi import definitions_of
    from toolmd._store.store import Store

    document, published = settings.services[name].document, None
    row: dict[str, Any] = {"server": name, "state": "running", "problem": None, "tools": []}
    try:
        if document:
            place = document if document.startswith(_URLS) else str(settings.root / document)
            ((_, text),) = texts_of("openapi", place)
            published = definitions_of(text)
    except (NotFoundError, UnreachableError, UnreadableSourceError) as error:
        return {**row, "state": "unreachable", "problem": str(error)}
    same = services_of(settings, document)
    elsewhere = {key for one in same if one != name for key in operations.get(one, ())}
    if same and name != same[0]:
        elsewhere |= set(published or ())
    store = Store(settings.store, settings.state)
    try:
        files, services = operations.get(name, {}), Services(settings, store)
        found = services.look(name, files, published, elsewhere=elsewhere, accept=accept)
        return {**row, "tools": found}
    finally:
        store.close()
