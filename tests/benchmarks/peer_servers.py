"""The servers that Toolmd's is compared with: `python peer_servers.py NAME PORT`.

Each serves one tool, whose function awaits once and returns a booking, on 127.0.0.1. A peer is
imported only when it is asked for.
"""

import asyncio
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


def sdk() -> Any:
    """Return the application of the MCP SDK's own server."""
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("bench", log_level="WARNING")
    server.tool()(book_appointment_0)
    return server.streamable_http_app()


def fastmcp() -> Any:
    """Return the application of fastmcp's server."""
    from fastmcp import FastMCP

    server = FastMCP("bench")
    server.tool(book_appointment_0)
    return server.http_app(path="/mcp")


APPLICATIONS = {"starlette": starlette, "fastapi": fastapi, "sdk": sdk, "fastmcp": fastmcp}


if __name__ == "__main__":
    import uvicorn

    application = APPLICATIONS[sys.argv[1]]()
    uvicorn.run(application, port=int(sys.argv[2]), log_level="warning", access_log=False)
