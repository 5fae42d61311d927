"""Ask a model one question about a text; the answer is a JSON value."""

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from typing import Any

from toolmd._chat.endpoint import Endpoint, base_url_of, fault, key_of, model_of, open_client
from toolmd._types.settings import Settings
from toolmd._validation.strict_json import read_json

TIMEOUT_S = 120.0
_MAX_DEPTH = 64

Ask = Callable[[str, str, Mapping[str, Any]], Any]
"""Receives instructions, a text and a JSON Schema; returns the model's value, unchecked."""


def ask_of(model: str, settings: Settings, timeout_s: float = TIMEOUT_S) -> Ask:
    """Return a function that asks a model as `toolmd chat` does; nothing is sent before.

    The function raises ModelError where no JSON comes. The schema is part of the instructions, and
    the caller checks the value.

    Args:
        model: The model's name.
        settings: Those of the project, with the endpoint's address.
        timeout_s: The wait for an answer, in seconds.

    Raises:
        ConfigError: The key or the openai package is missing.
    """
    url = base_url_of(None, settings)
    key = key_of(url, os.environ)
    name = model_of(model, settings)

    async def ask(instructions: str, text: str, schema: Mapping[str, Any]) -> Any:
        form = json.dumps(schema, ensure_ascii=False)
        wanted = f"Answer with one JSON value that follows this schema, and nothing else: {form}"
        messages = [
            {"role": "system", "content": f"{instructions}\n\n{wanted}"},
            {"role": "user", "content": text},
        ]
        async with open_client(url, key, timeout_s) as client:
            choice = await Endpoint(client, name).ask(messages, ())
        try:
            return read_json(_unfenced(choice.words), depth=_MAX_DEPTH)
        except ValueError as error:
            raise fault("unreadable", f"{url} gave no JSON: {str(error)[:300]}") from None

    return lambda instructions, text, schema: asyncio.run(ask(instructions, text, schema))


def _unfenced(words: str) -> str:
    """Return an answer without the code fence that some models write around it."""
    text = words.strip()
    first, _, rest = text.partition("\n")
    is_fenced = first in {"```", "```json"} and rest.endswith("```")
    return rest.removesuffix("```") if is_fenced else text
