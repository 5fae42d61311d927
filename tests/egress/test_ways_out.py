"""Names are resolved once and pinned, redirects are checked, and other hosts are denied."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from egress_world import CountingNetwork, Resolver, Server, client, here, moved
from hypothesis import example, given
from hypothesis import strategies as st

from toolmd._egress import Approved, DomainNotApprovedError
from toolmd._egress.approved import address_of, is_open
from toolmd._egress.guarded import resolve

PUBLIC = "93.184.215.14"
CLOSED = """
127.0.0.1 127.8.8.8 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 169.254.0.1
100.64.0.1 100.100.100.200 0.0.0.0 0.1.2.3 192.0.0.192 192.0.2.1 198.18.0.1 198.51.100.1
203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 168.63.129.16 192.88.99.1
:: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::127.0.0.1 64:ff9b::7f00:1 64:ff9b::808:808 64:ff9b:1::1
2002:7f00:1:: 2001:0:7f00:1:: 2001:db8::1 fe80::1 fec0::1 fc00::1 fd00:ec2::254 ff02::1 100::1
5f00::1 3fff::1
""".split()
OPEN = "93.184.215.14 8.8.8.8 1.1.1.1 2606:4700:4700::1111 2a00:1450:4001:82a::200e".split()


def asked(url, domains=("api.example.com",), **options):
    """Give the network after one request, and what came of it."""
    network = options.setdefault("network", CountingNetwork())

    async def main():
        async with client(domains, **options) as http:
            return await http.get(url, follow_redirects=True)

    try:
        return network.asked, asyncio.run(main())
    except (httpx.HTTPError, DomainNotApprovedError) as error:
        return network.asked, error


@pytest.mark.parametrize("address", CLOSED)
def test_a_name_that_resolves_to_a_private_network_is_denied(address):
    for answer in ([address], [PUBLIC, address]):
        connections, error = asked("http://api.example.com/", resolver=Resolver(answer))
        assert isinstance(error, DomainNotApprovedError)
        assert connections == []


@pytest.mark.parametrize("address", OPEN)
def test_a_name_that_resolves_to_a_public_address_is_connected(address):
    connections, _ = asked("https://api.example.com/", resolver=Resolver([address]))
    assert connections == [(address, 443)]


@given(st.ip_addresses())
@example(address_of("::ffff:1.2.3.4"))
@example(address_of("168.63.129.16"))
def test_no_public_address_is_private(address):
    if is_open(address):
        assert address.is_global
        assert not any((address.is_private, address.is_multicast, address.is_loopback))
        assert getattr(address, "ipv4_mapped", None) is None
        assert getattr(address, "sixtofour", None) is None
        assert getattr(address, "teredo", None) is None


def test_a_resolver_that_flips_its_answer_is_asked_once():
    resolver = Resolver([PUBLIC], ["127.0.0.1"])
    connections, _ = asked("http://api.example.com/", resolver=resolver)
    assert connections == [(PUBLIC, 80)]
    assert resolver.asked == ["api.example.com"]


def test_each_connection_is_checked_again():
    network, resolver = CountingNetwork(), Resolver([PUBLIC], ["127.0.0.1"])

    async def main():
        async with client(["api.example.com"], resolver=resolver, network=network) as http:
            with pytest.raises(httpx.ConnectError):
                await http.get("http://api.example.com/")
            with pytest.raises(DomainNotApprovedError):
                await http.get("http://api.example.com/")

    asyncio.run(main())
    assert network.asked == [(PUBLIC, 80)]


def test_a_name_of_several_addresses_is_tried_one_by_one():
    connections, error = asked("http://api.example.com/", resolver=Resolver(["8.8.8.8", PUBLIC]))
    assert connections == [("8.8.8.8", 80), (PUBLIC, 80)]
    assert isinstance(error, httpx.ConnectError)


@pytest.mark.parametrize("answer", [[], OSError("no such name")])
def test_a_name_without_an_address_is_a_connection_failure(answer):
    connections, error = asked("http://api.example.com/", resolver=Resolver(answer))
    assert isinstance(error, httpx.ConnectError)
    assert connections == []


def test_a_resolver_that_hangs_times_out():
    async def hangs(name):
        await asyncio.Event().wait()

    async def main():
        async with client(["api.example.com"], resolver=hangs) as http:
            http.timeout = 0.01
            await http.get("http://api.example.com/")

    with pytest.raises(httpx.ConnectTimeout):
        asyncio.run(main())


def test_the_machines_resolver_returns_addresses():
    assert "127.0.0.1" in asyncio.run(resolve("127.0.0.1"))


HOPS = """
http://evil.com/
https://evil.com/
//evil.com/
http://127.0.0.1/
http://localhost/
http://169.254.169.254/latest/meta-data/
http://[::1]/
http://api.example.com:22/
http://user:secret@api.example.com/
ftp://api.example.com/
file:///etc/passwd
\\\\evil.com/
http://evil.com\\@api.example.com/
""".strip("\n").split("\n")


@pytest.mark.parametrize("where", HOPS)
def test_a_redirect_off_the_list_is_not_followed(where):
    async def main():
        server = Server(lambda head: moved(where))
        async with server.open():
            network = CountingNetwork(server)
            async with client(["api.example.com"], network=network) as http:
                try:
                    response = await http.get("http://api.example.com/", follow_redirects=True)
                except (DomainNotApprovedError, httpx.HTTPError) as error:
                    return network.asked, error
                return network.asked, response

    connections, came = asyncio.run(main())
    # A Location that is no address of its own is a path on the same server, until it tires.
    assert {host for host, _ in connections} == {PUBLIC}
    assert isinstance(came, DomainNotApprovedError | httpx.TooManyRedirects)


def test_every_redirect_is_checked_against_the_list():
    hops = ["http://b.example.com/", "http://c.example.com/", "http://evil.com/"]

    async def main():
        server = Server(lambda head: moved(hops.pop(0)))
        async with server.open():
            network = CountingNetwork(server)
            async with client(["*.example.com"], network=network) as http:
                with pytest.raises(DomainNotApprovedError):
                    await http.get("http://a.example.com/", follow_redirects=True)
            return [head.splitlines()[1] for head in server.heads]

    assert asyncio.run(main()) == [
        "Host: a.example.com", "Host: b.example.com", "Host: c.example.com",
    ]  # fmt: skip


def test_a_redirect_within_the_list_is_followed():
    hops = [moved("http://b.example.com/there"), here()]

    async def main():
        server = Server(lambda head: hops.pop(0))
        async with server.open():
            network = CountingNetwork(server)
            async with client(["*.example.com"], network=network) as http:
                return await http.get("http://a.example.com/", follow_redirects=True)

    assert asyncio.run(main()).text == "here"


@pytest.mark.parametrize("named", ["127.0.0.1", "localhost", "{}:{}"])
def test_an_address_that_the_file_names_itself_is_reached(named):
    async def main():
        server = Server(lambda head: here())
        async with server.open():
            domain = named.format("127.0.0.1", server.port)
            host = "localhost" if named == "localhost" else "127.0.0.1"
            async with client([domain], resolver=Resolver(OSError())) as http:
                return await http.get(f"http://{host}:{server.port}/")

    assert asyncio.run(main()).text == "here"


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.2/", "http://127.1/", "http://localhost/", "http://[::ffff:127.0.0.1]/",
     "http://2130706433/", "http://10.0.0.1/", "http://home.example/"],
)  # fmt: skip
def test_a_named_address_opens_no_other_way_to_it(url):
    resolver = Resolver(["127.0.0.1"])
    connections, error = asked(url, ("127.0.0.1", "home.example"), resolver=resolver)
    assert isinstance(error, DomainNotApprovedError)
    assert connections == []


def test_a_port_that_the_file_names_is_the_only_one():
    domains = ("api.example.com:8443", "127.0.0.1:9000")
    for url in ("http://api.example.com/", "https://api.example.com/", "http://127.0.0.1:9001/"):
        assert isinstance(asked(url, domains)[1], DomainNotApprovedError)
    assert asked("https://api.example.com:8443/", domains)[0] == [(PUBLIC, 8443)]


def test_an_approved_origin_is_exact_and_may_be_private():
    origins = ("http://127.0.0.1:8000", "http://ollama:11434", "https://model.example")
    home = Resolver(["10.0.0.9"])
    for url, address in (
        ("http://127.0.0.1:8000/v1", ("127.0.0.1", 8000)),
        ("http://ollama:11434/v1", ("10.0.0.9", 11434)),
        ("https://model.example/v1", ("10.0.0.9", 443)),
    ):
        assert asked(url, (), origins=origins, resolver=home)[0] == [address]
    for url in (
        "https://127.0.0.1:8000/", "http://127.0.0.1:8001/", "http://127.0.0.1/",
        "http://ollama/", "http://model.example/", "https://model.example:8443/",
        "https://x.model.example/", "http://10.0.0.9:11434/",
    ):  # fmt: skip
        connections, error = asked(url, (), origins=origins, resolver=home)
        assert isinstance(error, DomainNotApprovedError), url
        assert connections == []


@pytest.mark.parametrize(
    "origin",
    ["", "127.0.0.1:8000", "//127.0.0.1:8000", "ftp://127.0.0.1", "http://", "http://a@127.0.0.1",
     "http://127.0.0.1/path", "http://127.0.0.1?x", "http://127.0.0.1:x", "http://127.1",
     "http://*.example.com", "http://exa mple.com"],
)  # fmt: skip
def test_an_origin_that_cannot_be_read_approves_nothing(origin):
    assert not Approved("a.tool.md", (), (origin,))._origins


@pytest.mark.parametrize(
    "domain",
    ["", "*", "*.", "*.*.example.com", "a*.example.com", "**.example.com", ".example.com",
     "example.com.", "http://example.com", "example.com/path", "a@example.com", "*.127.0.0.1",
     "127.1", "0x7f.1", "2130706433", "[::1", "example.com:", "example.com:x", "example.com:0",
     "exa mple.com", "exam\u200bple.com"],
)  # fmt: skip
def test_a_domain_that_cannot_be_read_approves_nothing(domain):
    assert not Approved("a.tool.md", (domain,))._entries


def test_without_domains_nothing_is_reached_and_the_error_names_the_remedy():
    connections, error = asked("http://api.example.com/", ())
    assert connections == []
    assert "tools_md/fetch.tool.md names no Allowed Domains" in str(error)


def test_a_different_host_header_is_denied():
    network = CountingNetwork()

    async def main():
        async with client(["api.example.com"], network=network) as http:
            with pytest.raises(DomainNotApprovedError):
                await http.get("http://api.example.com/", headers={"Host": "evil.com"})
            with pytest.raises(DomainNotApprovedError):
                await http.get("https://api.example.com/", extensions={"sni_hostname": "evil.com"})

    asyncio.run(main())
    assert network.asked == []


@pytest.mark.process
def test_a_proxy_of_the_environment_is_not_used(tmp_path):
    script = """
import asyncio, sys
from egress_world import CountingNetwork, client
import httpx
network = CountingNetwork()
async def main():
    async with client(["api.example.com"], network=network) as http:
        try:
            await http.get("http://api.example.com/")
        except httpx.ConnectError:
            print(network.asked)
asyncio.run(main())
"""
    proxy = "http://127.0.0.1:9"
    environ = {**os.environ, "HTTP_PROXY": proxy, "ALL_PROXY": proxy, "http_proxy": proxy,
               "PYTHONPATH": str(Path(__file__).parent)}  # fmt: skip
    said = subprocess.run(
        [sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == f"[('{PUBLIC}', 80)]"


def test_a_unix_socket_is_not_reachable():
    async def main():
        async with client(["api.example.com"]) as http:
            await http._transport._pool._network_backend.connect_unix_socket("/run/x.sock")

    with pytest.raises(NotImplementedError):
        asyncio.run(main())


def test_the_certificate_is_asked_for_the_name_and_not_for_the_address():
    """The pin changes where the connection goes; whom TLS expects there stays the host."""
    heard = []

    class Stream:
        async def start_tls(self, ssl_context, server_hostname=None, **options):
            heard.append((server_hostname, ssl_context.check_hostname))
            raise ConnectionAbortedError

        async def aclose(self):
            return None

    class Network(CountingNetwork):
        async def connect_tcp(self, host, port, *options, **named):
            self.asked.append((host, port))
            return Stream()

    network = Network()

    async def main():
        async with client(["api.example.com"], network=network) as http:
            with pytest.raises(ConnectionAbortedError):
                await http.get("https://api.example.com/")

    asyncio.run(main())
    assert network.asked == [(PUBLIC, 443)]
    assert heard == [("api.example.com", True)]
