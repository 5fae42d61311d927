"""Choose the endpoint, the model and the key, and open the client."""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from toolmd._types.settings import Settings
from toolmd.errors import ConfigError

OPENROUTER = "https://openrouter.ai/api/v1"
OPENROUTER_KEY = "OPENROUTER_API_KEY"
OPENAI_KEY = "OPENAI_API_KEY"
NO_KEY = "none"
"""Key for servers on this machine, which usually need none."""


def model_of(given: str | None, settings: Settings) -> str:
    """Return the model's name, or raise ConfigError with the ways to set it."""
    if (model := given or settings.chat.model) is None:
        raise ConfigError(
            "no model is named: give one (--model NAME), set TOOLMD_CHAT_MODEL, or write"
            ' model = "NAME" into the table [chat] of the project\'s settings'
        )
    return model


def base_url_of(given: str | None, settings: Settings) -> str:
    """Return the endpoint's URL; OpenRouter by default."""
    url = given or settings.chat.base_url or OPENROUTER
    try:
        parts = urlsplit(url)
        sound = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        sound = False
    if not sound:
        raise ConfigError(f"base URL {url!r}: must be an http:// or https:// URL with a host")
    return url


def key_of(url: str, environ: Mapping[str, str]) -> str:
    """Return the key for an endpoint: OpenRouter's key goes only to OpenRouter and this machine.

    Raises ConfigError with the name of the missing variable.
    """
    host = urlsplit(url).hostname or ""
    if host == "openrouter.ai" or host.endswith(".openrouter.ai"):
        if key := environ.get(OPENROUTER_KEY):
            return key
        raise ConfigError(
            f"{OPENROUTER_KEY} is not set: put OpenRouter's key there, or name another endpoint"
            " (--base-url URL)"
        )
    if key := environ.get(OPENAI_KEY):
        return key
    if _is_here(host):
        return environ.get(OPENROUTER_KEY) or NO_KEY
    raise ConfigError(f"{OPENAI_KEY} is not set: put the key of {host} there")


def open_client(url: str, key: str, seconds: float) -> Any:
    """Open the openai SDK's client; raises ConfigError where the package is missing."""
    try:
        from openai import AsyncOpenAI
    except ImportError as error:
        raise ConfigError(
            "a conversation needs the package openai: pip install 'toolmd[chat]'"
        ) from error
    return AsyncOpenAI(base_url=url, api_key=key, timeout=seconds)


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
