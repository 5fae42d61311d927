"""Measure a turn (request, call, result) with an adapter and with the framework's own tool."""

import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from agents import Agent as OpenAIAgent
from agents import Runner, function_tool
from clerk_langchain import LangChain
from clerk_langchain import Script as LangChainScript
from clerk_openai_agents import OpenAIAgents
from clerk_openai_agents import Script as OpenAIScript
from clerk_pydantic_ai import PydanticAI
from clerks import USER, Clerk
from langchain.agents import create_agent
from langchain_core.tools import tool as langchain_tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai.models.function import FunctionModel
from shop import LOOK_TOOL, open_shop

from toolmd import Workspace

TURNS = 20
PYTHON = "def look(order: str, days: int = 1) -> dict:\n    return {'done': order}\n"


def look(order: str, days: int = 1) -> dict[str, str]:
    """Look an order up.

    Args:
        order: The order.
        days: The days.
    """
    del days
    return {"done": order}


def runs(ws: Workspace) -> dict[str, tuple[Callable[[], Awaitable[Any]], ...]]:
    """Return for each framework a run with its own tool, and one with the adapter."""
    script = [[("look", {"order": f"A{n}"})] for n in range(TURNS)]

    def clerk(kind: type[Clerk]) -> Any:
        return kind(ws, script)

    one, two, three = clerk(PydanticAI), clerk(OpenAIAgents), clerk(LangChain)
    own = PydanticAgent(FunctionModel(one._reply), tools=[look])
    plain = OpenAIAgent[Any](name="own", model=OpenAIScript(two), tools=[function_tool(look)])
    graph = create_agent(
        LangChainScript(clerk=three), tools=[langchain_tool(look)], checkpointer=InMemorySaver()
    )
    said: Any = {"messages": [("user", "Go")]}
    turns = {"context": USER, "max_turns": TURNS + 5}
    return {
        "pydantic-ai": (
            lambda: own.run("Go", deps=USER, usage_limits=None),
            lambda: one.agent(one.toolset()).run("Go", deps=named()),
        ),
        "openai-agents": (
            lambda: Runner.run(plain, [{"role": "user", "content": "Go"}], **turns),  # type: ignore[arg-type]
            lambda: Runner.run(
                two.agent(), [{"role": "user", "content": "Go"}], **{**turns, "context": named()}
            ),
        ),
        "langchain": (
            lambda: graph.ainvoke(said, thread()),
            lambda: three.agent().ainvoke(said, thread(), context={"user": "u1"}),
        ),
    }


def thread() -> Any:
    """Return the settings of a new thread of LangGraph."""
    thread_id = str(time.time_ns())
    return {"recursion_limit": 10 * TURNS, "configurable": {"thread_id": thread_id}}


def named() -> dict[str, str]:
    """Return a caller in a conversation of its own."""
    return {"user": "u1", "conversation": str(time.time_ns())}


async def measure(ws: Workspace) -> None:
    """Print the processor time of a turn, the best of six runs."""
    for name, both in runs(ws).items():
        best = []
        for run in both:
            times = []
            for _ in range(6):
                began = time.process_time()
                await run()
                times.append((time.process_time() - began) / TURNS * 1e3)
            best.append(min(times))
        print(f"{name}: own {best[0]:.1f} ms, with Toolmd {best[1]:.1f} ms")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "shop"
        (folder / "tools_md").mkdir(parents=True)
        (folder / "toolmd.toml").write_text("plugins = []\n")
        (folder / "tools_md/look.tool.md").write_text(LOOK_TOOL)
        (folder / "tools_md/look.py").write_text(PYTHON)
        with open_shop(folder) as opened:
            sys.exit(asyncio.run(measure(opened)))
