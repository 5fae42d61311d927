"""Add `toolmd clinic`: seed the book, show a day and the outbox, run an insurer."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from toolmd import load_settings

from .bookings import listed
from .insurer import DEFAULT_PORT, make_server
from .seed import seed
from .store import Clinic, open_clinic

app = typer.Typer(help="The Jefferson dental clinic.", no_args_is_help=True)

Project = Annotated[
    Path | None, typer.Option(help="The project's folder; else the nearest one upward.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Day = typer.Argument(formats=["%Y-%m-%d"], help="The day; else today.")


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
    with _clinic_of(ctx, project) as clinic:
        done = seed(clinic, today.date() if today else clinic.clock.today())
    lines = [
        f"Added {done.families} families and {done.visits} visits.",
        f"No room: the evening of {done.full_evening} is full.",
        f"Closed:  {done.closed_day}.",
    ]
    _print(done._asdict(), lines, as_json=as_json)


@app.command("day")
def day_command(
    ctx: typer.Context,
    day: Annotated[datetime | None, Day] = None,
    *,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Show who comes on a day, the earliest first."""
    with _clinic_of(ctx, project) as clinic:
        on = day.date() if day else clinic.clock.today()
        visits = clinic.bookings.day(on)
    lines = []
    for one in visits:
        more = "; ".join(filter(None, [one["allergies"], *one["notes"]]))
        lines.append(
            f"{one['time']:>8} {one['booking_id']} {listed(one['child_names'])}, "
            f"{one['appointment_type']}, {one['parent_name']} {one['phone_number']}"
            f"{f' ({more})' if more else ''}"
        )
    _print(visits, lines or [f"Nobody comes on {on}."], as_json=as_json)


@app.command("outbox")
def outbox_command(ctx: typer.Context, *, project: Project = None, as_json: Json = False) -> None:
    """Show the text messages to parents, the oldest first."""
    with _clinic_of(ctx, project) as clinic:
        messages = clinic.outbox.messages()
    lines = [
        f"{one['message_id']} {one['written_at']} {one['status']} {one['phone_number']}: "
        f"{one['body']}"
        for one in messages
    ]
    _print(messages, lines or ["The outbox is empty."], as_json=as_json)


@app.command("insurer")
def insurer_command(
    port: Annotated[int, typer.Option(help="Of 127.0.0.1; 0 takes a free one.")] = DEFAULT_PORT,
) -> None:
    """Run the eligibility service that check_insurance_eligibility asks, until Ctrl-C."""
    with suppress(KeyboardInterrupt), make_server(port) as server:
        typer.echo(f"http://127.0.0.1:{server.server_port}")
        server.serve_forever()


@contextmanager
def _clinic_of(ctx: typer.Context, project: Path | None) -> Iterator[Clinic]:
    """Open the clinic of the project named after the command or before it."""
    settings = load_settings(project or ctx.find_root().params.get("project"))
    with closing(open_clinic(settings)) as clinic:
        yield clinic


def _print(data: Any, lines: list[str], *, as_json: bool) -> None:
    typer.echo(json.dumps(data, default=str) if as_json else "\n".join(lines))
