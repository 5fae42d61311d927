"""HTTP: the API of a workspace for programs, and the console for people."""

from importlib.util import find_spec

from toolmark.errors import ToolmarkError


def require_server() -> None:
    """See that the server's packages are there; raises ToolmarkError with the remedy if not."""
    for name in ("starlette", "uvicorn", "sse_starlette", "jinja2"):
        if find_spec(name) is None:
            missing = f"the server needs the package {name.replace('_', '-')}"
            raise ToolmarkError(f"{missing}: pip install 'toolmark[server]'")
