"""Register the clinic for its tools, and `toolmd clinic` for the command line."""

from typing import TYPE_CHECKING

from toolmd import hookimpl

from ._clinic.insurer import EligibilityService
from ._clinic.outbox import Notifier
from ._clinic.resources import Reception
from ._clinic.store import Clinic

if TYPE_CHECKING:
    import typer

    from toolmd import Resources, Settings


@hookimpl
def toolmd_resources(registry: "Resources", settings: "Settings") -> None:
    """Register the clinic, the notifier of parents, and the insurer's address."""
    reception = Reception(settings)
    registry.register_factory(Clinic, reception.clinic, on_registry_close=reception.close)
    registry.register_factory(Notifier, reception.notifier)
    registry.register_factory(EligibilityService, reception.eligibility_service)


@hookimpl
def toolmd_commands(app: "typer.Typer") -> None:
    """Add `toolmd clinic`."""
    from ._clinic.commands import app as clinic

    app.add_typer(clinic, name="clinic")
