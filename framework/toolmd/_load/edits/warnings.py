"""Add a warning to a registry: the journal of live definitions, or the store, can't be used."""

from dataclasses import replace

from toolmd._load.source.files import whole_file
from toolmd._types.code import Code
from toolmd._types.diagnostic import Severity
from toolmd._types.registry import Registry


def with_unusable_journal(registry: Registry, problem: str) -> Registry:
    """Add that the journal of what is live can't be used."""
    message = f"what is live can't be kept for the next start: {problem}"
    help_ = "repair or remove the file; until then only this process knows the edits"
    return _warned(registry, message, help_)


def with_silent_store(registry: Registry, problem: str) -> Registry:
    """Add that the store does not answer which edits were accepted."""
    message = f"the store can't say which edits were accepted: {problem}"
    return _warned(registry, message, "until it answers, edits that weaken a policy stay pending")


def _warned(registry: Registry, message: str, help_: str) -> Registry:
    told = whole_file("settings", Code.UNREADABLE_STATE, message, help_, Severity.WARNING)
    return replace(registry, diagnostics=(*registry.diagnostics, told))
