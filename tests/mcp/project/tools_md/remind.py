"""Set a reminder, and write it down for the tests to see."""

import json
from pathlib import Path
from typing import Any

DONE = Path(__file__).with_name("reminders.jsonl")


def remind(
    title: str,
    hour: int,
    tone: str,
    secret: str | None = None,
    places: list[str] | None = None,
    extra: dict[str, Any] | None = None,
) -> dict[str, Any]:
    made = {"title": title, "hour": hour, "tone": tone}
    with DONE.open("a", encoding="utf-8") as file:
        file.write(json.dumps(made) + "\n")
    return made
