"""Ask the store which policy changes were accepted, and which wait on other machines."""

from collections.abc import Iterable, Mapping

from toolmd._store import is_postgres
from toolmd._store.store import Store
from toolmd._types.pending_change import ChangeKey, StoredChange


class StoredChanges:
    """The changes in the store, read with the first question of one reading of all files."""

    def __init__(self, store: Store) -> None:
        """Keep the store, which is opened with the first question."""
        self._store = store
        self._known: Mapping[ChangeKey, StoredChange] | None = None
        self.problem = ""
        """Why the store could not be asked; empty where it was, or need not be."""

    def accepted(self, key: ChangeKey, taken: int) -> int | None:
        """Return the number of a change's acceptance; None where it is pending.

        `taken` is the number of the last acceptance that was taken: each counts once.
        """
        found = self._all().get(key)
        return found.number if found and found.accepted and found.number > taken else None

    def elsewhere(self, name: str, edit: str) -> list[bytes] | None:
        """Return the policies that stay live on other machines until this edit is accepted.

        With SQLite there is no other machine. None where the store can't be asked.
        """
        if not is_postgres(self._store.setting):
            return []
        known = self._all()
        if self.problem:
            return None
        return [
            one.spec
            for key, one in known.items()
            if key.name == name and key.edit == edit and not one.accepted
        ]

    def propose(self, changes: Iterable[tuple[ChangeKey, bytes, int]]) -> None:
        """Store the changes that are pending here."""
        if changes := list(changes):
            try:
                self._store.changes.propose(changes)
            except Exception as error:  # noqa: BLE001 - they are pending in any case
                self.problem = str(error)

    def _all(self) -> Mapping[ChangeKey, StoredChange]:
        if self._known is None:
            try:
                self._known = self._store.changes.all()
            except Exception as error:  # noqa: BLE001 - nothing counts as accepted
                self._known, self.problem = {}, str(error)
        return self._known
