"""Read a service's headers and credentials from the environment, and hide them in texts."""

import base64
from collections.abc import Mapping
from typing import NamedTuple

from toolmd._remote.unsent import UnsentCallError
from toolmd._types.settings import ServiceSettings
from toolmd.config.services import filled, variables_of

_LEAST_SECRET = 4
"""Shorter values are not searched for: they occur in ordinary text."""


class Credentials(NamedTuple):
    """What a service's table adds to each request."""

    headers: dict[str, str]
    query: dict[str, str]
    cookies: dict[str, str]
    secrets: tuple[str, ...]
    """The values that no answer may repeat."""

    def hide(self, text: str) -> str:
        """Return a text without the secrets."""
        for secret in self.secrets:
            text = text.replace(secret, "[hidden]")
        return text


def credentials_of(name: str, service: ServiceSettings, environ: Mapping[str, str]) -> Credentials:
    """Read what a request needs; raises UnsentCallError for a variable that can't be used."""
    needed = variables_of(service)
    if lacking := [variable for variable in needed if not environ.get(variable)]:
        message = f"The service {name or 'of the tool'} needs the environment variable "
        raise UnsentCallError(f"{message}{', '.join(lacking)}.")
    for variable in needed:
        value = environ[variable]
        if not value.isascii() or not value.isprintable() or value != value.strip():
            message = f"The environment variable {variable} is not text on one line, of ASCII"
            raise UnsentCallError(f"{message} letters without space around it.")
    found = Credentials(
        {key: filled(text, environ) for key, text in service.headers.items()}, {}, {},
        tuple(v for one in needed if len(v := environ[one]) >= _LEAST_SECRET),
    )  # fmt: skip
    secrets = list(found.secrets)
    for one in service.auth:
        values = [environ[variable] for variable in one.variables]
        match one.kind:
            case "bearer":
                found.headers["Authorization"] = f"Bearer {values[0]}"
            case "basic":
                coded = base64.b64encode(":".join(values).encode()).decode()
                found.headers["Authorization"] = f"Basic {coded}"
                secrets.append(coded)
            case "header":
                found.headers[one.name] = values[0]
            case "query":
                found.query[one.name] = values[0]
            case "cookie":
                found.cookies[one.name] = values[0]
    return found._replace(secrets=tuple(sorted(secrets, key=len, reverse=True)))
