"""A tool's Python that opens its own connections is found by the names that it uses."""

import pytest
from bind_project import Project

from toolmd._load.files import File
from toolmd._load.implementation import own_clients

FOUND = [
    "import httpx\nhttpx.get('http://a')",
    "import httpx as h\nh.AsyncClient()",
    "from httpx import AsyncClient as Client\nClient()",
    "def f():\n    import httpx\n    with httpx.Client() as c: c.get('x')",
    "import requests\nrequests.Session()",
    "import urllib.request\nurllib.request.urlopen('http://a')",
    "from urllib import request\nrequest.urlopen('http://a')",
    "from urllib.request import urlopen\nurlopen('http://a')",
    "import urllib.request as r\nr.urlopen('http://a')",
    "import aiohttp\naiohttp.ClientSession()",
    "import http.client\nhttp.client.HTTPSConnection('a')",
    "import socket\nsocket.create_connection(('a', 80))",
    "import socket\nsocket.socket()",
    "import asyncio\nasyncio.open_connection('a', 80)",
    "import urllib3\nurllib3.PoolManager()",
]
FINE = [
    "import httpx\ntry: pass\nexcept httpx.HTTPError: pass",
    "async def f(*, context): await context.http.get('http://a')",
    "from urllib.request import Request\nRequest('http://a')",
    "import urllib.parse\nurllib.parse.quote('a')",
    "class httpx:\n    get = print\nhttpx.get('a')",
    "from .httpx import get\nget('a')",
    "import asyncio\nasyncio.sleep(0)",
    "def broken(:",
]


def look(source: str) -> list[str]:
    return [d.message for d in own_clients(File("a.py", "/a.py", ("a.py",), source.encode()))]


@pytest.mark.parametrize("source", FOUND)
def test_a_client_of_its_own_is_found(source: str) -> None:
    assert len(look(source)) == 1


@pytest.mark.parametrize("source", FINE)
def test_code_that_opens_no_connection_has_no_finding(source: str) -> None:
    assert look(source) == []


def test_it_is_a_warning_at_its_place_and_the_tool_loads(project: Project) -> None:
    project.tool("one", python="import httpx\n\ndef one():\n    return httpx.get('http://a')\n")

    (found,) = project.inspect("one")

    assert (found.code, found.severity) == ("own-http-client", "warning")
    assert found.span == ("tools_md/one.py", 4, 12, 4, 21)
    assert "context.http" in found.help
    assert project.build().registry.tools["one"].binding.load()
