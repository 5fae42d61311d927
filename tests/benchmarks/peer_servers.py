"""The servers that Toolmd's is compared with: `python peer_servers.py NAME PORT`.

Each serves one tool, whose function awaits once and returns a booking, on 127.0.0.1; the port
`stdio` serves `sdk` to the process that started it. A peer is imported only when it is asked for.
"""

import asyncio
import json
import sys
from typing import Any, Literal

NAME = "book_appointment_0"


async def book_appointment_0(
    child_names: list[str],
    appointment_time: str,
    appointment_type: Literal["exam", "cleaning", "exam_and_cleaning", "emergency"],
) -> dict[str, Any]:
    """Book a dental appointment for specified children. Only call after user confirms."""
    await asyncio.sleep(0)
    return {
        "booking_id": f"A-{len(child_names)}",
        "status": "booked",
        "datetime": appointment_time,
        "appointment_type": appointment_type,
        "child_names": child_names,
    }


def starlette() -> Any:
    """Return an application that parses JSON, validates nothing and calls the function."""
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def call(request: Any) -> JSONResponse:
        return JSONResponse(await book_appointment_0(**await request.json()))

    return Starlette(routes=[Route("/call", call, methods=["POST"])])


def fastapi() -> Any:
    """Return an application that validates arguments and result with pydantic."""
    from fastapi import FastAPI
    from pydantic import BaseModel

    class Arguments(BaseModel):
        child_names: list[str]
        appointment_time: str
        appointment_type: Literal["exam", "cleaning", "exam_and_cleaning", "emergency"]

    class Booking(Arguments):
        booking_id: str
        status: str
        datetime: str

    app = FastAPI()

    @app.post("/call")
    async def call(arguments: Arguments) -> Booking:
        made = await book_appointment_0(**arguments.model_dump())
        return Booking(**made, appointment_time=arguments.appointment_time)

    # The annotations are names of this function.
    return app


def low_level() -> Any:
    """Return the MCP SDK's low-level server with one tool; it validates nothing."""
    from mcp.server.lowlevel import Server
    from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool
    from pydantic import TypeAdapter

    schema = TypeAdapter(book_appointment_0).json_schema()
    tool = Tool(
        name=NAME,
        description=book_appointment_0.__doc__,
        input_schema=schema,
        output_schema={"type": "object"},
    )

    async def listed(*_: Any) -> ListToolsResult:
        return ListToolsResult(tools=[tool])

    async def call(_: Any, params: Any) -> CallToolResult:
        booked = await book_appointment_0(**params.arguments)
        text = TextContent(type="text", text=json.dumps(booked))
        return CallToolResult(content=[text], structured_content=booked)

    return Server("bench", on_list_tools=listed, on_call_tool=call)


def sdk() -> Any:
    """Return the application of the MCP SDK's low-level server."""
    return low_level().streamable_http_app()


async def over_stdio() -> None:
    """Serve the MCP SDK's low-level server over stdio."""
    from mcp.server.stdio import stdio_server

    server = low_level()
    async with stdio_server() as streams:
        await server.run(*streams, server.create_initialization_options())


def fastmcp() -> Any:
    """Return the application of fastmcp's server."""
    from fastmcp import FastMCP

    server = FastMCP("bench")
    server.tool(book_appointment_0)
    return server.http_app(path="/mcp")


APPLICATIONS = {"starlette": starlette, "fastapi": fastapi, "sdk": sdk, "fastmcp": fastmcp}


if __name__ == "__main__":
    if sys.argv[2] == "stdio":
        asyncio.run(over_stdio())
        sys.exit()
    import uvicorn

    application = APPLICATIONS[sys.argv[1]]()
    uvicorn.run(application, port=int(sys.argv[2]), log_level="warning", access_log=False)
