"""A plugin says who calls over HTTP where neither the settings nor an issuer know the token."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests import warm_python
from tests.definitions import tool

TOKEN = "the-token-of-this-start"
GREET = """
def greet(*, context):
    return f"{context.user} of {context.facts['ward']}"
"""
PLUGIN = """
from toolmd import Caller, hookimpl

@hookimpl
async def toolmd_authenticate(headers):
    name = headers.get("x-client-verified") or headers.get("authorization", "")[7:]
    if name.startswith("user-"):
        return Caller(name[5:], {"ward": "north"}, roles=("nurse",))
    if name.startswith("boss-"):
        return Caller(name[5:], {"ward": "north"}, roles=("nurse",)), ["call", "operate"]
    return 1 / 0 if name == "fails" else "ana" if name == "odd" else None
"""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("ward")
    (folder / "toolmd.toml").write_text("")
    tools = folder / "tools_md"
    tools.mkdir()
    fields = "- **Requires Context**: ward\n- **Allowed Roles**: nurse\n"
    greet = tool("greet", metadata=fields, returns="string")
    for name, text in (("greet.tool.md", greet), ("greet.py", GREET), ("plugin.py", PLUGIN)):
        (tools / name).write_text(text, "utf-8")
    command = (sys.executable, "-m", "toolmd", "serve", "--transport", "http", "--port", "0")
    env = {**os.environ, "TOOLMD_LOAD_PLUGINS": "", "TOOLMD_TOKEN": TOKEN}
    server = warm_python.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, env=env)
    assert server.stderr is not None
    found = re.search(r"http://[\w.:]+", server.stderr.readline())
    assert found is not None
    yield found[0]
    server.send_signal(signal.SIGINT)
    server.communicate(timeout=30)


def test_a_plugin_names_the_user_of_api_console_and_mcp(url: str) -> None:
    def call(**headers: str) -> Any:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx.post(f"{url}/api/tools/greet/call", json={}, headers=named)

    assert call(x_client_verified="user-ana").json()["data"] == "ana of north"
    assert call(authorization="Bearer user-bo").json()["data"] == "bo of north"
    assert call(authorization="Bearer nobody").status_code == 401
    assert call().status_code == 401
    stated = {"x_client_verified": "user-ana", "toolmd_context_ward": "south"}
    assert call(**stated).status_code == 403
    assert call(x_client_verified="user-ana", toolmd_user="bo").status_code == 403

    session = httpx.post(f"{url}/api/session", json={"token": "boss-cy"})
    assert session.status_code == 204
    cookie = {"cookie": session.headers["set-cookie"].partition(";")[0]}
    about = httpx.get(f"{url}/api/caller", headers=cookie).json()
    assert (about["user"], about["may"]) == ("cy", ["call", "operate"])

    ping = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accepts = {"accept": "application/json, text/event-stream"}
    for name, passes in (("user-ana", True), ("nobody", False)):
        headers = {**accepts, "x-client-verified": name}
        answer = httpx.post(f"{url}/mcp", json=ping, headers=headers)
        assert (answer.status_code != 401) is passes


@pytest.mark.parametrize("name", ["fails", "odd"])
def test_a_plugin_that_fails_denies_with_a_reference_of_the_log(url: str, name: str) -> None:
    answer = httpx.get(f"{url}/api/tools", headers={"x-client-verified": name})
    assert answer.status_code == 401
    assert re.search(r"reference [0-9a-f]{8}", answer.json()["detail"])


def test_a_header_that_stands_twice_names_nobody(url: str) -> None:
    twice = [("x-client-verified", "user-eve"), ("x-client-verified", "user-ana")]
    assert httpx.get(f"{url}/api/tools", headers=twice).status_code == 401
