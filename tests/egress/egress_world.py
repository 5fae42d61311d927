"""A server of our own, a resolver that says what a test wants, and a network that counts."""

import asyncio
from contextlib import asynccontextmanager

import httpcore

from toolmd._egress import Approved, open_client


class CountingNetwork(httpcore.AsyncNetworkBackend):
    """Writes down where somebody wants to connect; lets through what leads to the server."""

    def __init__(self, server=None):
        self.asked = []
        self._server = server
        self._real = httpcore.AnyIOBackend()

    async def connect_tcp(self, host, port, *options, **named):
        self.asked.append((host, port))
        if self._server is None:
            raise httpcore.ConnectError("there is no network here")
        return await self._real.connect_tcp("127.0.0.1", self._server.port)

    async def connect_unix_socket(self, path, *options, **named):
        raise AssertionError(path)

    async def sleep(self, seconds):
        await self._real.sleep(seconds)


class Resolver:
    """Answers with these addresses, one list a question; the last goes on."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    async def __call__(self, name):
        self.asked.append(name)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


class Server:
    """Answers each request with `answer(head)`; keeps the heads."""

    def __init__(self, answer):
        self.heads = []
        self.port = 0
        self._answer = answer

    async def _serve(self, reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head.decode())
        writer.write(self._answer(head.decode()))
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    @asynccontextmanager
    async def open(self):
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        async with server:
            yield self


def here(body=b"here"):
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body


def moved(where):
    head = f"HTTP/1.1 302 Found\r\nLocation: {where}\r\nContent-Length: 0\r\nConnection: close"
    return f"{head}\r\n\r\n".encode()


def client(domains=(), *, origins=(), resolver=None, network=None):
    approved = Approved("tools_md/fetch.tool.md", tuple(domains), tuple(origins))
    lookup = resolver or Resolver(["93.184.215.14"])
    return open_client("fetch", approved, 5.0, lookup=lookup, network=network)
