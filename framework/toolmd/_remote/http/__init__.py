"""Call the operations of web services: `Implemented By: http METHOD PATH`."""

from toolmd._remote.http.binding import bind_operation

__all__ = ["bind_operation"]
