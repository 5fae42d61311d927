"""Tell who asks."""

from toolmd import Context


def who_asks(*, context: Context) -> dict[str, str | None]:
    return {"user": context.user, "patient": context.facts.get("patient")}
