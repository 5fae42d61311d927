"""Register the tools, the patients' records, and the guard against calls for another patient."""

import os
from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from toolmd import Action, Call, ConfigError, Resources, Settings, ToolSpec, Verdict, hookimpl
from toolmd_simplescribe.fhir.server import FhirServer, TokenOf
from toolmd_simplescribe.records import TOOLS, PatientRecords, implementation
from toolmd_simplescribe.search.embedder import embedder_of
from toolmd_simplescribe.search.method import Method
from toolmd_simplescribe.store import OTHER_PATIENT, PatientStore

if TYPE_CHECKING:
    from toolmd.hooks import Guard

URL: Final = "SIMPLESCRIBE_FHIR_URL"
TOKEN: Final = "SIMPLESCRIBE_FHIR_TOKEN"  # noqa: S105 - the name of a variable


def server_url(environ: Mapping[str, str] = os.environ) -> str:
    """Return the base address of the FHIR server, empty if none is set; raises ConfigError."""
    url = environ.get(URL, "").strip().rstrip("/")
    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        good = whole and not (parts.query or parts.fragment or "@" in parts.netloc)
    except ValueError:
        good = False
    if url and not good:
        raise ConfigError(
            f"environment: {URL}: must be an address such as https://fhir.example.org/r4, without "
            "a user, a query or a fragment"
        )
    return url


class SimpleScribe:
    """The plugin; a host passes a function for the tokens of its users."""

    def __init__(
        self, environ: Mapping[str, str] = os.environ, token: TokenOf | None = None
    ) -> None:
        """Create the plugin.

        Args:
            environ: The environment with the settings.
            token: Returns the token of a user for the FHIR server; by default the variable
                SIMPLESCRIBE_FHIR_TOKEN is everybody's.
        """
        self._environ = environ
        self._token: TokenOf = token or (lambda _user: environ.get(TOKEN, "").strip())

    @hookimpl
    def toolmd_definitions(self) -> Iterable[Traversable]:
        """Return the folder of the tools."""
        return [files("toolmd_simplescribe") / "tools"]

    @hookimpl
    def toolmd_implementation(self, spec: ToolSpec) -> Callable[..., object] | None:
        """Return the function of a tool."""
        return implementation(spec)

    @hookimpl
    def toolmd_approved_origins(self, spec: ToolSpec) -> Iterable[str]:
        """Return the FHIR server, if one is set."""
        url = server_url(self._environ)
        parts = urlsplit(url)
        return [f"{parts.scheme}://{parts.netloc}"] if url and spec.name in TOOLS else []

    @hookimpl
    def toolmd_guards(self, spec: ToolSpec) -> "Iterable[Guard]":
        """Return the guard that denies calls for another patient, before anything runs."""
        own = spec.name in TOOLS and "patient" in spec.requires_context
        named = any(parameter.name == "patient_id" for parameter in spec.parameters)
        return [same_patient] if own and named else []

    @hookimpl
    def toolmd_resources(self, registry: Resources, settings: Settings) -> None:
        """Register the records; the first call that needs them creates the store's file."""
        opened = registry.register_shared(
            PatientStore,
            lambda: PatientStore(settings.state, Method(embedder_of(self._environ))),
            lambda store: store.close(),
        )

        def records() -> PatientRecords:
            url = server_url(self._environ)
            return PatientRecords(opened(), FhirServer(url, self._token) if url else None)

        registry.register_factory(PatientRecords, records)


def same_patient(call: Call, arguments: Mapping[str, Any]) -> Verdict | None:
    """Deny a call whose patient is not the one in the caller's context."""
    patient = call.caller.context.get("patient")
    if patient is not None and arguments.get("patient_id") == patient:
        return None
    return Verdict(Action.DENY, "other_patient", OTHER_PATIENT)


plugin = SimpleScribe()
"""SimpleScribe's patient tools."""
