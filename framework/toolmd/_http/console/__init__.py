"""The console of `toolmd dev`: pages to look at a project, try it, and decide what waits."""

from toolmd._http.console.bench import Bench
from toolmd._http.console.routes import OPEN_PATHS, console_routes, stranger_page

__all__ = ["OPEN_PATHS", "Bench", "console_routes", "stranger_page"]
