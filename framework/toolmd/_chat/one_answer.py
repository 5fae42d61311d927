"""Ask a model one question about a text."""

import asyncio
import os
from collections.abc import Callable

from toolmd._chat.endpoint import Endpoint, base_url_of, key_of, model_of, open_client
from toolmd._types.settings import Settings

TIMEOUT_S = 120.0


def ask_of(model: str, settings: Settings) -> Callable[[str, str], str]:
    """Return a function that sends instructions and a text to a model as `toolmd chat` does.

    The function returns the words of the answer, and raises ModelError where none comes.

    Args:
        model: The model's name.
        settings: Those of the project, with the endpoint's address.

    Raises:
        ConfigError: The key or the openai package is missing.
    """
    url = base_url_of(None, settings)
    key = key_of(url, os.environ)
    name = model_of(model, settings)

    async def answer(instructions: str, text: str) -> str:
        messages = [{"role": "system", "content": instructions}, {"role": "user", "content": text}]
        async with open_client(url, key, TIMEOUT_S) as client:
            return (await Endpoint(client, name).ask(messages, ())).words

    return lambda instructions, text: asyncio.run(answer(instructions, text))
