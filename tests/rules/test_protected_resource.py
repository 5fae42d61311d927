"""MCP's protected resource metadata (RFC 9728): where clients learn who signs users in."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.definitions import Folder, tool

from toolmd import Workspace
from toolmd._auth import Addresses, Tokens
from toolmd._http.app import Server
from toolmd._http.events import EventSource, Feed
from toolmd._types.call import Caller
from toolmd.config import load_settings

ISSUER = """[[identity.issuers]]
issuer = "https://idp.example/shop"
audience = ["https://tools.example/mcp", "shop"]
jwks = "https://idp.example/keys"
"""
PATH = "/.well-known/oauth-protected-resource"


class Mcp:
    """An endpoint that answers nothing."""

    async def __call__(self, *_: Any) -> None: ...

    def running(self) -> Any:
        raise NotImplementedError


def ask(tmp_path: Path, settings: str, *paths: str, host: str = "tools.example") -> list[Any]:
    folder = Folder(tmp_path)
    folder.write("tools_md/look.tool.md", tool("look"))
    folder.write("toolmd.toml", "plugins = []\n" + settings)
    with Workspace(load_settings(tmp_path)) as workspace:
        app = Server(
            workspace, EventSource(Feed()), port=8787, mcp=Mcp(),
            addresses=Addresses.of("127.0.0.1", 8787, ["tools.example"]),
            tokens=Tokens(list, own="t", caller=Caller("ana"), may=()),
        ).app  # fmt: skip

        async def run() -> list[Any]:
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(transport=transport, base_url=f"https://{host}") as client:
                return [await client.get(path) for path in paths]

        return asyncio.run(run())


@pytest.mark.parametrize("host", ["tools.example", "elsewhere.example"])
def test_the_metadata_is_public_and_a_request_without_a_token_names_it(
    tmp_path: Path, host: str
) -> None:
    *found, denied = ask(tmp_path, ISSUER, PATH, f"{PATH}/mcp", "/mcp", host=host)
    for one in found:
        assert one.status_code == 200
        assert one.json() == {
            "resource": "https://tools.example/mcp",
            "authorization_servers": ["https://idp.example/shop"],
            "bearer_methods_supported": ["header"],
        }
    if host == "tools.example":
        assert denied.status_code == 401
        named = f'Bearer resource_metadata="https://tools.example{PATH}/mcp"'
        assert denied.headers["www-authenticate"] == named


def test_without_a_service_that_signs_in_there_is_none(tmp_path: Path) -> None:
    for settings in ("", ISSUER.replace('jwks = "https://idp.example/keys"', 'key = "key.pem"')):
        root = tmp_path / f"p{len(settings)}"
        root.mkdir()
        (root / "key.pem").write_text("")
        metadata, denied = ask(root, settings, PATH, "/mcp")
        assert metadata.status_code == 404
        assert denied.headers["www-authenticate"] == "Bearer"
