"""Read the source of an import: a file, standard input, a URL, a module or a server."""

from collections.abc import Iterator
from pathlib import Path

from toolmd._cli.files import STDIN
from toolmd._cli.frame import ExitCode, stop
from toolmd._cli.screen import read_stdin
from toolmd.errors import NotFoundError, UnreachableError

WANTED = "the definitions to import"
_SKILL_FILE = "SKILL.md"
_PROMPTS = ("*.md", "*.prompt", "*.prompty")
_FETCH_S = 30


def texts_of(kind: str, source: str) -> Iterator[tuple[str, str]]:
    """Return the name and the text of each document of the source."""
    if kind == "python":
        from toolmd._import.python import list_functions

        yield source, list_functions(source)
        return
    if source == STDIN:
        yield "<stdin>", _decoded(read_stdin(WANTED), "<stdin>")
        return
    path = Path(source)
    if kind == "agentskills" and path.is_dir():
        found = sorted(path.rglob(_SKILL_FILE)) or _with_front_matter(path)
        if not found:
            raise NotFoundError(f"{source}: no {_SKILL_FILE} and no prompt in this folder")
        for file in found:
            yield str(file), _decoded(file.read_bytes(), str(file))
    elif path.is_file():
        yield source, _decoded(path.read_bytes(), source)
    elif kind == "openapi" and source.startswith(("http://", "https://")):
        yield source, _decoded(_fetched(source), source)
    elif kind == "mcp" and _is_server(source):
        from toolmd._gateway.live import list_tools

        yield source, list_tools(source)
    else:
        raise NotFoundError(f"{source}: no such file")


def _with_front_matter(folder: Path) -> list[Path]:
    """Return the agents, commands and prompts of a folder: texts that begin with front matter."""
    found = sorted(file for pattern in _PROMPTS for file in folder.rglob(pattern))
    return [file for file in found if file.read_bytes().lstrip(b"\xef\xbb\xbf")[:3] == b"---"]


def _fetched(url: str) -> bytes:
    from urllib.request import urlopen

    from toolmd._import.openapi import MAX_BYTES

    try:
        with urlopen(url, timeout=_FETCH_S) as answer:  # noqa: S310 - http and https only
            data: bytes = answer.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise UnreachableError(f"{url}: {error}") from error
    return data


def _is_server(source: str) -> bool:
    import shlex
    import shutil

    from toolmd._gateway.live import is_url

    if is_url(source):
        return True
    try:
        words = shlex.split(source)
    except ValueError:
        return False
    return bool(words) and shutil.which(words[0]) is not None


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        help_ = "save it as UTF-8"
        stop(ExitCode.FINDINGS, f"{name}: byte {error.start} is not UTF-8", help_)
