"""A nursery with a tool of each kind, and conversations there with a scripted model."""

import asyncio
from collections.abc import Callable
from typing import Any

from openai import AsyncOpenAI

from toolmd import Conversation, Exchange, Workspace
from toolmd.testing import ModelServer, memory_workspace


def definition(name: str, *parameters: tuple[str, str], metadata: str = "", extra: str = "") -> str:
    written = "".join(
        f"### {parameter}\n\n- **Type**: {kind}\n- **Required**: true\n"
        f"- **Description**: The {parameter}\n\n"
        for parameter, kind in parameters
    )
    return (
        f"# {name}\n\nDoes {name}.\n\n## Metadata\n\n- **Name**: {name}\n- **Version**: 1.0.0\n"
        f"- **Category**: garden\n{metadata}\n## Parameters\n\n{written or 'None'}\n\n"
        f"## Returns\n\n- **Type**: object\n- **Description**: What came of it\n\n{extra}"
    )


DEFINITIONS = {
    "look_up.tool.md": definition(
        "look_up", ("plant", "string"), metadata="- **Read Only**: true\n"
    ),
    "water.tool.md": definition("water", ("plant", "string"), ("litres", "integer")),
    "plant_tree.tool.md": definition(
        "plant_tree",
        ("kind", "string"),
        ("number", "integer"),
        extra="## Safety\n\n- **Requires Confirmation**: true\n",
    ),
    "fell_tree.tool.md": definition(
        "fell_tree",
        ("number", "integer"),
        extra="## Safety\n\n- **Sensitivity**: critical\n",
    ),
    "remind.tool.md": definition(
        "remind",
        ("time", "string"),
        extra="## Safety\n\n- **Explicit Intent**: true\n- **Intent Keywords**: remind\n",
    ),
}


class Garden:
    """The tools' world: what was done, in order."""

    def __init__(self) -> None:
        self.done: list[Any] = []

    async def look_up(self, plant: str) -> dict[str, Any]:
        return {"plant": plant, "height_m": 3}

    async def water(self, plant: str, litres: int) -> dict[str, Any]:
        self.done.append(("water", plant, litres))
        return {"message": f"{plant} has {litres} l"}

    async def plant_tree(self, kind: str, number: int) -> dict[str, Any]:
        self.done.append(("plant", kind, number))
        return {"planted": number}

    async def fell_tree(self, number: int) -> dict[str, Any]:
        self.done.append(("fell", number))
        return {"felled": number}

    async def remind(self, time: str) -> dict[str, Any]:
        self.done.append(("remind", time))
        return {"at": time}

    def functions(self) -> list[Callable[..., Any]]:
        return [self.look_up, self.water, self.plant_tree, self.fell_tree, self.remind]


class Nursery:
    """A workspace, its garden, and conversations with a scripted model."""

    def __init__(self, **overrides: Any) -> None:
        self.garden = Garden()
        plugins = overrides.pop("plugins", None)
        self.workspace: Workspace = memory_workspace(
            DEFINITIONS, self.garden.functions(), overrides=overrides, plugins=plugins
        )

    def talk(self, server: ModelServer, *said: str, **options: Any) -> list[Exchange]:
        """Send these messages in one conversation; return the exchange of each."""
        return asyncio.run(self.atalk(server, *said, **options))

    async def atalk(self, server: ModelServer, *said: str, **options: Any) -> list[Exchange]:
        async with (
            open_client(server) as client,
            Conversation(self.workspace, model="scripted", client=client, **options) as talk,
        ):
            return [await talk.say(message) for message in said]


def open_client(server: ModelServer, **options: Any) -> AsyncOpenAI:
    """Return the SDK's own client without retries."""
    options = {"api_key": "sk-secret", "max_retries": 0, **options}
    return AsyncOpenAI(base_url=server.base_url, **options)
