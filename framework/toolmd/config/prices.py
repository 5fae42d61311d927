"""Read the tables `[chat.prices."MODEL"]`: what a model's tokens cost."""

from collections.abc import Mapping
from typing import Any

from toolmd._types.settings import PriceSettings
from toolmd.config.origin import Origin

_KEYS = ("input", "output", "cached")
_MOST = 1_000_000


def read_prices(value: Any, place: Origin) -> Mapping[str, PriceSettings]:
    """Read the prices of all models; raises ConfigError, which names the model and the key."""
    value = place.parsed(value, "a JSON object of prices by model")
    if not isinstance(value, dict):
        raise place.error(f'must be tables [{place.key}."MODEL"] with input and output')
    return {model: _price(table, _at(place, model)) for model, table in value.items()}


def _at(place: Origin, model: str) -> Origin:
    return place._replace(key=f'{place.key}."{model}"')


def _price(table: Any, at: Origin) -> PriceSettings:
    if not isinstance(table, dict) or not {"input", "output"} <= set(table):
        raise at.error("must be a table with input and output, US dollars per million tokens")
    if unknown := sorted(set(table) - {*_KEYS}):
        raise at.error(f"unknown key {unknown[0]!r}; known keys: {', '.join(_KEYS)}")
    for key, price in table.items():
        if isinstance(price, bool) or not isinstance(price, int | float) or not 0 <= price <= _MOST:
            raise at.error(f"{key} must be US dollars per million tokens, 0 to {_MOST}")
    return PriceSettings(**{key: float(price) for key, price in table.items()})
