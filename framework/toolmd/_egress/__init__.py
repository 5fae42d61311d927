"""Egress: an HTTP client that connects only to approved hosts, at addresses that it checked."""

from toolmd._egress.approved import Approved
from toolmd._egress.client import open_client
from toolmd._egress.error import DomainNotApprovedError

__all__ = ["Approved", "DomainNotApprovedError", "open_client"]
