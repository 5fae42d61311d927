"""Read the settings of the environment: the FHIR server, the embedder and the synonyms."""

import os
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from toolmd import ConfigError
from toolmd_simplescribe.search.embedder import embedder_of
from toolmd_simplescribe.search.method import Method
from toolmd_simplescribe.search.synonyms import synonyms_of

URL: Final = "SIMPLESCRIBE_FHIR_URL"
TOKEN: Final = "SIMPLESCRIBE_FHIR_TOKEN"  # noqa: S105 - the name of a variable


def method_of(environ: Mapping[str, str] = os.environ) -> Method:
    """Return the method of the search; raises ConfigError for an invalid setting."""
    return Method(synonyms_of(environ), embedder_of(environ))


def server_url(environ: Mapping[str, str] = os.environ) -> str:
    """Return the base address of the FHIR server, empty if none is set; raises ConfigError."""
    url = environ.get(URL, "").strip().rstrip("/")
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        good = bool(whole) and not (parts.query or parts.fragment or "@" in parts.netloc)
    except ValueError:
        good = False
    if not good:
        raise ConfigError(
            f"environment: {URL}: must be an address such as https://fhir.example.org/r4, without "
            "a user, a query or a fragment"
        )
    return url


def origin(url: str) -> str:
    """Return the scheme, host and port of an address."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
