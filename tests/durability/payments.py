"""A tool that pays, for tests of calls that must have their effect once."""

from tests.definitions import tool

AMOUNT = "- **amount** (integer): How much"


def pay(section: str) -> str:
    """Return the definition with one more section: `## Limits` or `## Safety`."""
    return tool("pay", f"{AMOUNT}\n\n{section}", metadata="- **Idempotent**: keyed\n")
