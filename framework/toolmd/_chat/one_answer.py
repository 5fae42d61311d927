"""Ask a model one question about a text; the answer is a JSON value that follows a schema."""

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import Any

from toolmd._chat.address import base_url_of, key_of, model_of, open_client
from toolmd._chat.endpoint import Endpoint
from toolmd._chat.errors import fault
from toolmd._chat.structured import AnswerSchema
from toolmd._types.settings import Settings

TIMEOUT_S = 120.0

Ask = Callable[[str, str, Mapping[str, Any]], Any]
"""Receives instructions, a text and a JSON Schema; returns the model's value."""


def ask_of(model: str, settings: Settings, timeout_s: float = TIMEOUT_S) -> Ask:
    """Return a function that asks a model as `toolmd chat` does; nothing is sent before.

    The function raises ModelError where no usable answer comes.

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

    async def asked(instructions: str, text: str, schema: Mapping[str, Any]) -> Any:
        form = AnswerSchema(schema)
        messages = [
            {"role": "system", "content": f"{instructions}\n\n{form.system}"},
            {"role": "user", "content": text},
        ]
        async with open_client(url, key, timeout_s) as client:
            endpoint = Endpoint(client, name, settings.chat.prices.get(name))
            choice = await endpoint.ask(messages, (), response_format=form.response_format)
        value, problem = form.read(choice.words)
        if problem:
            raise fault("unreadable", f"{url} gave no answer that can be used: {problem[:300]}")
        return value

    return lambda instructions, text, schema: asyncio.run(asked(instructions, text, schema))
