"""A workspace of small tools whose runs are remembered, and what a model says to it."""

import asyncio
import json
from typing import Any

from tests.definitions import skill

from toolmd.testing import memory_workspace

HEAD = """# {title}

Does {name}.

## Metadata

- **Name**: {name}
- **Version**: 1.0.0
- **Category**: test
"""
RETURNS = """
## Returns

- **Type**: object
- **Description**: What came of it
"""
WORD = """
## Parameters

### word

- **Type**: string
- **Required**: true
- **Description**: A word

### note

- **Type**: string
- **Description**: Something more
- **Max Length**: 10
"""
NESTED = """
## Parameters

### trip

- **Type**: object
- **Required**: true
- **Description**: A trip
- **Properties**:
  - **to**:
    - **Type**: string
    - **Required**: true
    - **Description**: Where to
  - **by**:
    - **Type**: string
    - **Description**: By what
  - **none**:
    - **Type**: string | null
    - **Description**: May be null

### stops

- **Type**: array
- **Description**: Stops
- **Items**:
  - **Type**: object
  - **Properties**:
    - **at**:
      - **Type**: string
      - **Description**: Where
"""
GREETING = skill(
    "greet_twice",
    "say, ask_first",
    """1. **Say it** once.
   - **Use**: say
   - **With**:
     - word: `word`

2. **Say it again**.
   - **Ask**: Say {word} again?
   - **Use**: ask_first
   - **With**:
     - word: `word`
   - **Save as**: second

3. **Return**:
   - said: `second.said`""",
    """- **word** (string, required): A word
  - **Max Length**: 10""",
)
PROSE = GREETING.replace("greet_twice", "greet_in_prose").replace(
    GREETING[GREETING.index("1. **Say") : GREETING.index("## Input")],
    "Greet, then greet again.\n\n",
)


def tool(name: str, body: str = WORD, safety: str = "") -> str:
    head = HEAD.format(name=name, title=name.replace("_", " ").title())
    guarded = f"\n## Safety\n\n{safety}\n" if safety else ""
    return f"{head}{body}{RETURNS}{guarded}"


DEFINITIONS = {
    "say.tool.md": tool("say"),
    "ask-first.tool.md": tool("ask_first", safety="- **Requires Confirmation**: true"),
    "sure.tool.md": tool("sure", safety="- **Min Confidence**: 0.7"),
    "travel.tool.md": tool("travel", NESTED),
    "fail.tool.md": tool("fail"),
    "greet-twice.skill.md": GREETING,
    "greet-in-prose.skill.md": PROSE,
}


class World:
    """A workspace, what ran in it, and a model that speaks to it."""

    def __init__(
        self,
        definitions: dict[str, str] | None = None,
        plugins: dict[str, object] | None = None,
        **overrides: Any,
    ) -> None:
        self.ran: list[Any] = []
        self.workspace = memory_workspace(
            DEFINITIONS if definitions is None else definitions,
            [self.say, self.ask_first, self.sure, self.travel, self.fail],
            plugins=plugins,
            overrides=overrides,
        )

    async def say(self, word: str, note: str = "") -> dict[str, str]:
        self.ran.append(("say", word))
        return {"said": word, "note": note}

    async def ask_first(self, word: str, note: str = "") -> dict[str, str]:
        self.ran.append(("ask_first", word))
        return {"said": word}

    async def sure(self, word: str, note: str = "") -> dict[str, str]:
        self.ran.append(("sure", word))
        return {}

    async def travel(self, trip: dict[str, Any], stops: list[Any] | None = None) -> dict[str, Any]:
        self.ran.append(("travel", trip, stops))
        return {"trip": trip, "stops": stops}

    async def fail(self, word: str, note: str = "") -> None:
        raise RuntimeError(word)

    def handle(self, reply: Any, dialect: str = "auto", **options: Any) -> Any:
        return asyncio.run(self.workspace.handle(reply, dialect, **options))


def inline(tool_name: str, confidence: float | None = None, **parameters: Any) -> str:
    call = {"id": f"c-{tool_name}", "tool": tool_name, "parameters": parameters}
    stated = {} if confidence is None else {"confidence": confidence}
    return f"[TOOL_CALL:{json.dumps(call | stated)}]"


def chat(*calls: tuple[str, Any], words: str = "") -> dict[str, Any]:
    """Write a message of OpenAI's chat."""
    made = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for number, (name, arguments) in enumerate(calls, 1)
    ]
    return {"role": "assistant", "content": words, "tool_calls": made}


def tool_use(*calls: tuple[str, Any]) -> dict[str, Any]:
    """Write a message of Anthropic's."""
    blocks = [
        {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": arguments}
        for number, (name, arguments) in enumerate(calls, 1)
    ]
    return {"role": "assistant", "content": [{"type": "text", "text": "Well."}, *blocks]}
