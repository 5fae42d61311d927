"""Register the clinic for its tools, and `toolmd clinic` for the command line."""

import os
from typing import TYPE_CHECKING

from toolmd import hookimpl

from ._clinic.insurer import ELIGIBILITY_URL, EligibilityService
from ._clinic.outbox import SMS_URL, Notifier
from ._clinic.store import Clinic, open_clinic

if TYPE_CHECKING:
    import typer

    from toolmd import Resources, Settings


@hookimpl
def toolmd_resources(registry: "Resources", settings: "Settings") -> None:
    """Register the clinic, the notifier of parents, and the insurer's address."""
    opened = registry.register_shared(
        Clinic, lambda: open_clinic(settings), lambda clinic: clinic.close()
    )
    registry.register_factory(
        Notifier, lambda: Notifier(opened().outbox, os.environ.get(SMS_URL, ""))
    )
    registry.register_factory(EligibilityService, _insurer)


@hookimpl
def toolmd_commands(app: "typer.Typer") -> None:
    """Add `toolmd clinic`."""
    from ._clinic.commands import app as clinic

    app.add_typer(clinic, name="clinic")


def _insurer() -> EligibilityService:
    url = os.environ.get(ELIGIBILITY_URL)
    return EligibilityService(url.rstrip("/")) if url else EligibilityService()
