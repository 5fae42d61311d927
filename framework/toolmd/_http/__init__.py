"""HTTP: the API of a workspace for programs, and the console for people."""

from importlib.util import find_spec

from toolmd.errors import ToolmdError


def require_server() -> None:
    """Raise ToolmdError with the remedy if the server's packages are not installed."""
    packages = ("httptools", "starlette", "uvicorn", "sse_starlette")
    lacking = [name.replace("_", "-") for name in packages if find_spec(name) is None]
    if lacking:
        raise ToolmdError(
            "the console and the HTTP API need the extra `server`, which is not installed "
            f"(missing: {', '.join(lacking)}): pip install 'toolmd[server]'"
        )
