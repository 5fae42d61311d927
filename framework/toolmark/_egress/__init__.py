"""The way out: an HTTP client that reaches approved hosts, at addresses it looked up itself."""

from toolmark._egress.approved import Approved
from toolmark._egress.client import open_client
from toolmark._egress.error import DomainNotApprovedError

__all__ = ["Approved", "DomainNotApprovedError", "open_client"]
