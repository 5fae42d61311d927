"""The console of `toolmark dev`: pages to look at a project, try it, and decide what waits."""

from toolmark._http.console.bench import Bench
from toolmark._http.console.routes import OPEN_PATHS, console_routes, stranger_page

__all__ = ["OPEN_PATHS", "Bench", "console_routes", "stranger_page"]
