"""Import existing tools and skills as drafts of canonical definitions."""

from toolmd._import.functions import read_function
from toolmd._import.report import ImportReport
from toolmd._import.sources import KINDS, PACKAGED, read_source

__all__ = ["KINDS", "PACKAGED", "ImportReport", "read_function", "read_source"]
