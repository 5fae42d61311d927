"""The way out: an HTTP client that reaches approved hosts, at addresses it looked up itself."""

from toolmd._egress.approved import Approved
from toolmd._egress.client import open_client
from toolmd._egress.error import DomainNotApprovedError

__all__ = ["Approved", "DomainNotApprovedError", "open_client"]
