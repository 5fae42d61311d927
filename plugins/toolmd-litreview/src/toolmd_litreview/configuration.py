"""Read the servers, their keys and our name for NCBI from the environment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlsplit

from toolmd import ConfigError

TOOL = "toolmd-litreview"
"""Our name for NCBI."""
NCBI = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
EMBEDDINGS_MODEL = "Qwen/Qwen3-Embedding-0.6B"
"""Its vectors have 1024 numbers by default."""
WORDS = "words"
"""The name of the vectors that need no model."""
_FLAGS = {"": False, "0": False, "false": False, "no": False, "1": True, "true": True, "yes": True}
_KEYS = {
    "LITREVIEW_MODEL_URL": "LITREVIEW_MODEL_KEY",
    "OPENAI_BASE_URL": "OPENAI_API_KEY",
    "LITREVIEW_EMBEDDINGS_URL": "LITREVIEW_EMBEDDINGS_KEY",
}


@dataclass(frozen=True, slots=True)
class Ncbi:
    """The E-utilities, and the identification that NCBI asks for."""

    url: str = NCBI
    tool: str = TOOL
    email: str = ""
    api_key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server with the OpenAI API, `url` without a slash at its end."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    shorten: bool = False
    """Whether it is asked to shorten its vectors."""

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers of each request."""
        return {"authorization": f"Bearer {self.key}"} if self.key else {}


class Configuration(NamedTuple):
    """All settings of the environment; None for a missing server."""

    ncbi: Ncbi
    model: Endpoint | None
    embeddings: Endpoint | None


def read(environ: Mapping[str, str]) -> Configuration:
    """Read all settings; raises ConfigError with the name of an invalid variable."""
    url, key = _first(environ, "LITREVIEW_MODEL_URL", "OPENAI_BASE_URL")
    model = _get(environ, "LITREVIEW_MODEL")
    named = _get(environ, "LITREVIEW_EMBEDDINGS_MODEL") or EMBEDDINGS_MODEL
    shorten = _get(environ, "LITREVIEW_EMBEDDINGS_SHORTEN").lower()
    if shorten not in _FLAGS:
        raise _invalid("LITREVIEW_EMBEDDINGS_SHORTEN", f"must be true or false, not {shorten!r}")
    # A key is sent only to the server that it belongs to.
    own, own_key = _first(environ, "LITREVIEW_EMBEDDINGS_URL")
    address = (own, named, own_key) if own else (url, named, key)
    return Configuration(
        ncbi=Ncbi(
            url=_url(environ, "LITREVIEW_NCBI_URL") or NCBI,
            tool=_get(environ, "LITREVIEW_NCBI_TOOL") or TOOL,
            email=_get(environ, "NCBI_EMAIL"),
            api_key=_get(environ, "NCBI_API_KEY"),
        ),
        model=Endpoint(url, model, key) if url and model else None,
        embeddings=Endpoint(*address, _FLAGS[shorten]) if address[0] and named != WORDS else None,
    )


def origin(url: str) -> str:
    """Return the scheme, host and port of a URL."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _first(environ: Mapping[str, str], *names: str) -> tuple[str, str]:
    for name in names:
        if url := _url(environ, name):
            return url, _get(environ, _KEYS[name])
    return "", ""


def _get(environ: Mapping[str, str], name: str) -> str:
    value = environ.get(name, "").strip()
    if not value.isprintable():
        raise _invalid(name, "contains a character that can't be printed")
    return value


def _url(environ: Mapping[str, str], name: str) -> str:
    value = _get(environ, name).rstrip("/")
    try:
        parts = urlsplit(value)
        whole = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        good = whole and not (parts.query or parts.fragment or "@" in parts.netloc)
    except ValueError:
        good = False
    if value and not good:
        raise _invalid(
            name,
            "must be an address such as http://127.0.0.1:8000/v1, without a user, a query or a "
            "fragment",
        )
    return value


def _invalid(name: str, what: str) -> ConfigError:
    return ConfigError(f"environment: {name}: {what}")
