"""Add `toolmd alara`: deliver what is due, and write the page for a doctor."""

import os
import time
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer

from toolmd import ConfigError, load_settings
from toolmd_alara.days import page
from toolmd_alara.log import FILE, HealthLog, Zone
from toolmd_alara.reminders import Agenda

NOTIFY = "ALARA_NOTIFY_URL"
"""Where reminders go: any URL of Apprise, with `{user}` in the place of the user's name."""
LATE = timedelta(minutes=30)
"""How late a reminder is still delivered, such as after the machine was off."""
EVERY_S = 30


def deliver(log: HealthLog, url: str, send: Callable[[str, str], bool]) -> tuple[int, int]:
    """Send what became due in the last half hour, each once.

    Returns:
        How many were sent, and how many failed; those are tried again, up to half an hour late.
    """
    done = [0, 0]
    for name in log.people():
        person = log.of(name)
        for one in Agenda(person).coming(after=person.now - LATE):
            delivery = (name, one["title"], one["next_due"])
            if datetime.fromisoformat(one["next_due"]) > person.now:
                continue
            with log.database.writing() as db:
                query = "INSERT OR IGNORE INTO delivery VALUES (?, ?, ?)"
                claimed = db.execute(query, delivery).rowcount
            if not claimed:
                continue
            sent = send(url.replace("{user}", quote(name, safe="")), one["title"])
            done[not sent] += 1
            if not sent:
                with log.database.writing() as db:
                    query = "DELETE FROM delivery WHERE (person, what, due) = (?, ?, ?)"
                    db.execute(query, delivery)
    return done[0], done[1]


def send(url: str, title: str) -> bool:
    """Send one reminder by Apprise."""
    try:
        import apprise
    except ImportError as error:
        raise ConfigError("Reminders need Apprise: pip install 'toolmd-alara[notify]'") from error
    gateway = apprise.Apprise()
    return bool(gateway.add(url) and gateway.notify(title="Reminder", body=title))


def commands(clock: Callable[[], datetime], zone: Zone | None) -> typer.Typer:
    """Return the commands, on this clock and in this zone."""
    app = typer.Typer(help="ALARA's health log.", no_args_is_help=True)

    def opened(ctx: typer.Context) -> HealthLog:
        settings = load_settings(ctx.find_root().params.get("project"))
        return HealthLog(settings.state / FILE, clock, zone)

    @app.command("remind")
    def remind(
        ctx: typer.Context,
        *,
        watch: Annotated[bool, typer.Option(help="Go on until Ctrl-C.")] = False,
    ) -> None:
        """Deliver the reminders that are due, each once: from cron, or with --watch."""
        if not (url := os.environ.get(NOTIFY, "")):
            raise ConfigError(f"set {NOTIFY} to a URL of Apprise, such as ntfy://topic-of-{{user}}")
        with closing(opened(ctx)) as log:
            while True:
                sent, failed = deliver(log, url, send)
                typer.echo(f"{sent} delivered" + (f", {failed} failed" if failed else ""))
                if not watch:
                    return
                time.sleep(EVERY_S)

    @app.command("page")
    def write_page(
        ctx: typer.Context,
        target: Annotated[Path, typer.Argument(help="The HTML file to write.")],
        *,
        user: Annotated[str | None, typer.Option(help="Whose log; else the local user's.")] = None,
        weeks: Annotated[int, typer.Option(min=1, max=52, help="How many weeks.")] = 8,
    ) -> None:
        """Write a page for the doctor: each week in a line, then all entries."""
        with closing(opened(ctx)) as log:
            target.write_text(page(log.of(user), weeks), "utf-8")
        typer.echo(f"made {target}")

    return app
