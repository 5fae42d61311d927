"""Hand the clinic to its tools, and `toolmark clinic` to the command line."""

from typing import TYPE_CHECKING

from toolmark.hooks import hookimpl

from ._clinic.clock import Clock
from ._clinic.eligibility import EligibilityService
from ._clinic.outbox import Notifier
from ._clinic.resources import eligibility_service, notifier, open_clinic, wall_clock
from ._clinic.store import Clinic

if TYPE_CHECKING:
    import svcs
    import typer

    from toolmark import Settings


@hookimpl
def toolmark_resources(registry: "svcs.Registry", settings: "Settings") -> None:
    """Give the clock, the clinic, what texts parents, and the insurer's address."""
    clock = wall_clock()
    clinic = open_clinic(settings, clock)
    registry.register_value(Clock, clock)
    registry.register_value(Clinic, clinic, on_registry_close=clinic.close)
    registry.register_value(Notifier, notifier(clinic))
    registry.register_value(EligibilityService, eligibility_service())


@hookimpl
def toolmark_commands(app: "typer.Typer") -> None:
    """Add `toolmark clinic`."""
    from ._clinic.commands import app as clinic

    app.add_typer(clinic, name="clinic")
