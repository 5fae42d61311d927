"""The same tools in Toolmd and in its peers: made, called once, or called many times.

Each peer is imported only when it is asked for, so that a process that starts with one pays for
no other. `python tests/benchmarks/peers.py NAME COUNT FOLDER` makes as many tools and calls one.
"""

import asyncio
import importlib
import json
import sys
from pathlib import Path

TEXT = json.dumps({
    "child_names": ["Emma", "Noah"],
    "appointment_time": "2026-03-05T09:00:00",
    "appointment_type": "exam",
})  # fmt: skip
PYTHON = '''\
"""One of many."""

from typing import Literal


async def {name}(
    child_names: list[str],
    appointment_time: str,
    appointment_type: Literal["exam", "cleaning", "exam_and_cleaning", "emergency"],
) -> dict:
    """Book a dental appointment for specified children. Only call after user confirms."""
    return {{
        "booking_id": f"A-{{len(child_names)}}",
        "status": "booked",
        "datetime": appointment_time,
        "appointment_type": appointment_type,
        "child_names": child_names,
    }}
'''
"""The Python of a tool; its markdown is that of `book.BOOKING`."""
AWAITING = PYTHON.replace("from typing", "import asyncio\nfrom typing", 1).replace(
    "    return {{", "    await asyncio.sleep(0)\n    return {{"
)
"""The same, but it awaits once, so that a call's deadline is armed."""


def name_of(number):
    """Give the name of one of the tools."""
    return f"book_appointment_{number}"


def functions(folder, count):
    """Import so many functions of the folder of definitions."""
    sys.path.insert(0, str(Path(folder, "tools_md")))
    return [getattr(importlib.import_module(name_of(n)), name_of(n)) for n in range(count)]


async def bare(folder, count):
    """Give what calls the first function itself; its arguments are known."""
    function, arguments = functions(folder, count)[0], json.loads(TEXT)
    return lambda: function(**arguments)


async def toolmd(folder, _count):
    """Give what calls through `Workspace.call`."""
    from toolmd import Workspace

    workspace = Workspace.open(folder)
    return lambda: workspace.call(name_of(0), TEXT, context={"patient": "p1"})


async def pydantic_ai(folder, count):
    """Give what calls through pydantic-ai's ToolManager."""
    from pydantic_ai.messages import ToolCallPart
    from pydantic_ai.models.test import TestModel
    from pydantic_ai.tool_manager import ToolManager
    from pydantic_ai.tools import RunContext
    from pydantic_ai.toolsets import FunctionToolset
    from pydantic_ai.usage import RunUsage

    toolset = FunctionToolset(functions(folder, count))
    context = RunContext(deps=None, model=TestModel(), usage=RunUsage(), run_step=1)
    manager = await ToolManager(toolset).for_run_step(context)
    call = ToolCallPart(name_of(0), TEXT, "call_1")
    return lambda: manager.handle_call(call)


async def fastmcp(folder, count):
    """Give what calls through fastmcp's Tool.run."""
    from fastmcp.tools import Tool

    tools = [Tool.from_function(function) for function in functions(folder, count)]
    return lambda: tools[0].run(json.loads(TEXT))


async def fastmcp_client(folder, count):
    """Give what calls through fastmcp's own client, in memory."""
    from fastmcp import Client, FastMCP

    server = FastMCP("bench")
    for function in functions(folder, count):
        server.tool(function)
    client = Client(server)
    await client.__aenter__()
    return lambda: client.call_tool(name_of(0), json.loads(TEXT))


async def langchain_core(folder, count):
    """Give what calls through langchain-core's `ainvoke`."""
    from langchain_core.tools import StructuredTool

    tools = [
        StructuredTool.from_function(coroutine=function) for function in functions(folder, count)
    ]
    return lambda: tools[0].ainvoke(json.loads(TEXT))


async def openai_agents(folder, count):
    """Give what calls through the function tools of openai-agents."""
    from agents import function_tool
    from agents.tool_context import ToolContext

    tools = [function_tool(function) for function in functions(folder, count)]
    context = ToolContext(
        context=None, tool_name=name_of(0), tool_call_id="call_1", tool_arguments=TEXT
    )
    return lambda: tools[0].on_invoke_tool(context, TEXT)


PEERS = {
    "bare": bare,
    "toolmd": toolmd,
    "pydantic_ai": pydantic_ai,
    "fastmcp": fastmcp,
    "openai_agents": openai_agents,
    "langchain_core": langchain_core,
    "fastmcp_client": fastmcp_client,
}
"""By name; each gives, of a folder and a count of tools, what makes a call of the first."""


async def once(name, folder, count):
    """Make the tools and call one."""
    answer = await (await PEERS[name](folder, count))()
    assert "booked" in str(getattr(answer, "data", None) or answer), answer


if __name__ == "__main__":
    asyncio.run(once(sys.argv[1], sys.argv[3], int(sys.argv[2])))
