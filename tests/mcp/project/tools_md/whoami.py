"""Say who asks."""

from toolmd import Context


def whoami(*, context: Context) -> dict[str, str | None]:
    return {"user": context.user, "patient": context.facts.get("patient")}
