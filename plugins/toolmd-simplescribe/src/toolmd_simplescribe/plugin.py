"""Register the tools, the patient store, and the guard against calls for another patient."""

from collections.abc import Iterable, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from toolmd import Action, Call, Settings, ToolSpec, Verdict, hookimpl
from toolmd_simplescribe.store import OTHER_PATIENT, PatientStore

if TYPE_CHECKING:
    import svcs

    from toolmd.hooks import Guard

TOOLS: Final = (
    "get_labs",
    "get_vitals",
    "get_meds",
    "get_problems",
    "get_notes",
    "get_notes_search_results",
)


class SimpleScribe:
    """The plugin."""

    @hookimpl
    def toolmd_definitions(self) -> Iterable[Traversable]:
        """Return the folder of the tools."""
        return [files("toolmd_simplescribe") / "tools"]

    @hookimpl
    def toolmd_guards(self, spec: ToolSpec) -> "Iterable[Guard]":
        """Return the guard that denies calls for another patient, before anything runs."""
        own = spec.name in TOOLS and "patient" in spec.requires_context
        return (
            [same_patient] if own and any(p.name == "patient_id" for p in spec.parameters) else []
        )

    @hookimpl
    def toolmd_resources(self, registry: "svcs.Registry", settings: Settings) -> None:
        """Register the patient store; the first call that needs it creates its file."""
        keeper = _Keeper(settings)
        registry.register_factory(
            PatientStore, keeper.open, enter=False, on_registry_close=keeper.close
        )


def same_patient(call: Call, arguments: Mapping[str, Any]) -> Verdict | None:
    """Deny a call whose patient is not the one in the caller's context."""
    patient = call.caller.context.get("patient")
    if patient is not None and arguments.get("patient_id") == patient:
        return None
    return Verdict(Action.DENY, "other_patient", OTHER_PATIENT)


class _Keeper:
    """Opens the one store of a snapshot on first use."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = Lock()
        self._store: PatientStore | None = None

    def open(self) -> PatientStore:
        with self._lock:
            if self._store is None:
                self._store = PatientStore(self._settings.state)
            return self._store

    def close(self) -> None:
        with self._lock:
            if self._store is not None:
                self._store.close()
                self._store = None


plugin = SimpleScribe()
"""SimpleScribe's patient tools."""
