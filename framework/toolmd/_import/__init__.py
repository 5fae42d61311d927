"""The way in: what people already have, read into drafts of canonical definitions."""

from toolmd._import.imported import Draft, Imported, Note
from toolmd._import.sources import KINDS, read_source

__all__ = ["KINDS", "Draft", "Imported", "Note", "read_source"]
