"""What the tools do: each receives its file's arguments, which are valid."""

from datetime import date, time
from typing import Any

from toolmd import Context
from toolmd_alara.days import KINDS, entries, in_words, today, trends
from toolmd_alara.log import HealthLog
from toolmd_alara.readings import attention
from toolmd_alara.reminders import NAMES, Agenda, from_sunday

Data = dict[str, Any]


def log_medication(
    medication_name: str,
    dose: str | None = None,
    taken_at: str | None = None,
    *,
    log: HealthLog,
    context: Context,
) -> Data:
    """Write a dose on the day on which it was taken."""
    values = {"name": medication_name, "dose": dose}
    entry = log.of_caller(context).record_dose(context.idempotency_key, values, taken_at)
    return {**entry, "message": f"Logged {medication_name}"}


def log_blood_pressure(*, log: HealthLog, context: Context, **reading: Any) -> Data:
    """Write a reading; the result says what a dangerous one calls for."""
    entry = log.of_caller(context).write("blood_pressure", context.idempotency_key, reading)
    upper, lower = reading["systolic"], reading["diastolic"]
    message = f"Logged blood pressure {upper}/{lower}"
    found = attention(upper, lower, reading.get("pulse"))
    if found is None:
        return {**entry, "message": message}
    message = f"{message}. {found.warning} {' '.join(found.proposals[:2])}"
    return {**entry, **found._asdict(), "message": message}


def log_hydration(
    amount: int, notes: str | None = None, *, log: HealthLog, context: Context
) -> Data:
    """Write a drink."""
    values = {"amount_ml": amount, "notes": notes}
    entry = log.of_caller(context).write("hydration", context.idempotency_key, values)
    return {**entry, "message": f"Logged {amount} ml"}


def log_symptom(
    symptom_name: str,
    severity: str | None = None,
    notes: str | None = None,
    *,
    log: HealthLog,
    context: Context,
) -> Data:
    """Write a symptom."""
    values = {"name": symptom_name, "severity": severity, "notes": notes}
    entry = log.of_caller(context).write("symptom", context.idempotency_key, values)
    return {**entry, "message": f"Logged symptom: {symptom_name}"}


def update_mood(mood: str, *, log: HealthLog, context: Context, **_: Any) -> Data:
    """Write a check-in."""
    entry = log.of_caller(context).write("check_in", context.idempotency_key, {"mood": mood})
    return {**entry, "message": f"Updated mood to {mood}"}


def log_doctor_visit(
    visit_type: str, date: str, notes: str | None = None, *, log: HealthLog, context: Context
) -> Data:
    """Write a visit."""
    values = {"kind": visit_type, "visited_on": date, "notes": notes}
    entry = log.of_caller(context).record_visit(context.idempotency_key, values)
    return {**entry, "message": f"Logged doctor visit: {visit_type.replace('_', '-')} on {date}"}


def add_clinical_date(
    clinical_date: str,
    description: str,
    *,
    reminder_enabled: bool = True,
    log: HealthLog,
    context: Context,
    **more: str,
) -> Data:
    """Write a date of a test, a procedure or another appointment."""
    columns = {"clinical_type": "kind", "provider_name": "provider",
               "preparation_notes": "preparation"}  # fmt: skip
    values = {columns.get(name, name): value for name, value in more.items()}
    values |= {"falls_on": clinical_date, "description": description}
    row = {**values, "remind": int(reminder_enabled)}
    entry = log.of_caller(context).write("clinical_date", context.idempotency_key, row)
    return {**entry, "message": f"Added clinical date: {description} on {clinical_date}"}


def add_care_log(*, log: HealthLog, context: Context, **event: Any) -> Data:
    """Write a permanent care log."""
    return {**_care(log, context, event), "message": f"Added care log: {event['title']}"}


def create_care_log(*, log: HealthLog, context: Context, **event: Any) -> Data:
    """Write a permanent care log."""
    return {**_care(log, context, event), "message": f"Created care log: {event['title']}"}


def _care(log: HealthLog, context: Context, event: Data) -> Data:
    columns = {"log_type": "kind", "duration_minutes": "minutes",
               "location_type": "location_kind", "location_name": "location"}  # fmt: skip
    values = {columns.get(name, name): value for name, value in event.items()}
    return log.of_caller(context).record_care(context.idempotency_key, values)


def undo_entry(kind: str, entry_id: int, *, log: HealthLog, context: Context) -> Data:
    """Undo an entry and return its title."""
    log.of_caller(context).undo(kind, entry_id)
    entry = get_entry(kind, entry_id, log=log, context=context)
    return {"message": f"Undone: {entry['title']}"}


def get_entry(kind: str, entry_id: int, *, log: HealthLog, context: Context) -> Data:
    """Return the title and the day of an entry, also of an undone one."""
    row = log.of_caller(context).entry(kind, entry_id)
    if row is None:
        return {"title": "(none has this number)"}
    is_reminder = kind == "reminder"
    title = f"{row['title']} at {row['time']}" if is_reminder else KINDS[kind].title(row)
    return {"title": title, "date": row["day"]}


def schedule_reminder(days: list[int], *, log: HealthLog, context: Context, **given: Any) -> Data:
    """Create a reminder on days that count from Sunday 0."""
    return create_reminder(from_sunday(days), log=log, context=context, **given)


def create_reminder(days: list[int], *, log: HealthLog, context: Context, **given: Any) -> Data:
    """Create a reminder on days that count from Monday 1."""
    reminder = Agenda(log.of_caller(context)).add(
        context.idempotency_key,
        at=time.fromisoformat(given.pop("time")),
        days=days,
        kind=given.pop("reminder_type", None),
        **given,
    )
    return {**reminder, "message": f"Created reminder: {given['title']}"}


def change_reminder(reminder_id: int, *, log: HealthLog, context: Context, **changes: Any) -> Data:
    """Change a reminder."""
    if "reminder_type" in changes:
        changes["kind"] = changes.pop("reminder_type")
    if "days" in changes:
        changes["days"] = [NAMES.index(day) + 1 for day in changes["days"]]
    reminder = Agenda(log.of_caller(context)).change(reminder_id, changes)
    return {**reminder, "message": f"Changed reminder: {reminder['title']}"}


def snooze_reminder(reminder_id: int, minutes: int, *, log: HealthLog, context: Context) -> Data:
    """Let a reminder come again later."""
    agenda = Agenda(log.of_caller(context))
    reminder = agenda.snooze(reminder_id, minutes, context.idempotency_key)
    return {**reminder, "message": f"Snoozed reminder: {reminder['title']}"}


def end_reminder(reminder_id: int, *, log: HealthLog, context: Context) -> Data:
    """End a reminder."""
    reminder = Agenda(log.of_caller(context)).end(reminder_id)
    return {**reminder, "message": f"Ended reminder: {reminder['title']}"}


def list_reminders(*, include_ended: bool = False, log: HealthLog, context: Context) -> list[Data]:
    """Return the reminders, the next one first."""
    return Agenda(log.of_caller(context)).all(ended=include_ended)


def get_today_summary(*, log: HealthLog, context: Context) -> Data:
    """Return today's entries."""
    summary = today(log.of_caller(context))
    return {**summary, "message": in_words(summary)}


def get_health_trends(*, weeks: int = 4, log: HealthLog, context: Context) -> Data:
    """Return the weeks, the oldest first."""
    return {"weeks": trends(log.of_caller(context), weeks)}


def read_health_log(
    first_day: date,
    last_day: date | None = None,
    kinds: list[str] | None = None,
    *,
    log: HealthLog,
    context: Context,
) -> list[Data]:
    """Return the entries of these days, in the order of time."""
    person = log.of_caller(context)
    last = last_day or max(first_day, date.fromisoformat(person.today))
    return entries(person, first_day, last, tuple(kinds or KINDS))
