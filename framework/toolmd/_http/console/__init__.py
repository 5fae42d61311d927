"""The console of `toolmd dev`: pages to inspect a project, try it, and decide on calls."""

from toolmd._http.console.routes import OPEN_PATHS, console_routes, stranger_page
from toolmd._http.console.view import ConsoleView

__all__ = ["OPEN_PATHS", "ConsoleView", "console_routes", "stranger_page"]
