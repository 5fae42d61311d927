"""Add `toolmd clinic`: seed the book, read the outbox, run the demonstration's insurer."""

import json
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from toolmd import load_settings

from .bookings import listed
from .insurer import DEFAULT_PORT, make_server
from .resources import open_clinic
from .seed import seed
from .store import Clinic

app = typer.Typer(help="The Jefferson dental clinic.", no_args_is_help=True)

Project = Annotated[
    Path | None, typer.Option(help="The project's folder; else the nearest one upward.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("seed")
def seed_command(
    ctx: typer.Context,
    *,
    today: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Seed as of this day.")
    ] = None,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Add demonstration families and visits; existing ones stay unchanged."""
    clinic = _clinic_of(ctx, project)
    done = seed(clinic, today.date() if today else clinic.clock.today())
    clinic.close()
    if as_json:
        shown = {
            "families": done.families,
            "visits": done.visits,
            "full_evening": done.full_evening.isoformat(),
            "closed_day": done.closed_day.isoformat(),
        }
        typer.echo(json.dumps(shown))
        return
    typer.echo(f"Added {done.families} families and {done.visits} visits.")
    typer.echo(f"No room: the evening of {done.full_evening} is full.")
    typer.echo(f"Closed:  {done.closed_day}.")


@app.command("day")
def day_command(
    ctx: typer.Context,
    day: Annotated[
        datetime | None, typer.Argument(formats=["%Y-%m-%d"], help="The day; else today.")
    ] = None,
    *,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Show who comes on a day, the earliest first."""
    clinic = _clinic_of(ctx, project)
    on = day.date() if day else clinic.clock.today()
    visits = clinic.bookings.day(on)
    clinic.close()
    if as_json:
        typer.echo(json.dumps(visits))
        return
    for one in visits:
        more = "; ".join(filter(None, [one["allergies"], *one["notes"]]))
        typer.echo(
            f"{one['time']:>8} {one['booking_id']} {listed(one['child_names'])}, "
            f"{one['appointment_type']}, {one['parent_name']} {one['phone_number']}"
            f"{f' ({more})' if more else ''}"
        )
    if not visits:
        typer.echo(f"Nobody comes on {on}.")


@app.command("outbox")
def outbox_command(ctx: typer.Context, *, project: Project = None, as_json: Json = False) -> None:
    """Show the text messages to parents, the oldest first."""
    clinic = _clinic_of(ctx, project)
    messages = clinic.outbox.messages()
    clinic.close()
    if as_json:
        typer.echo(json.dumps(messages))
        return
    for message in messages:
        typer.echo(
            f"{message['message_id']} {message['written_at']} {message['status']} "
            f"{message['phone_number']}: {message['body']}"
        )
    if not messages:
        typer.echo("The outbox is empty.")


@app.command("insurer")
def insurer_command(
    port: Annotated[int, typer.Option(help="The port on 127.0.0.1; 0 takes a free one.")] = (
        DEFAULT_PORT
    ),
) -> None:
    """Run the eligibility service that check_insurance_eligibility asks, until Ctrl-C."""
    with make_server(port) as server:
        typer.echo(f"http://127.0.0.1:{server.server_port}")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            typer.echo("Stopped.")


def _clinic_of(ctx: typer.Context, project: Path | None) -> Clinic:
    """Open the clinic of the project named after the command or before it."""
    return open_clinic(load_settings(project or ctx.find_root().params.get("project")))
