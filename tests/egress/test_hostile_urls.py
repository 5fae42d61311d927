"""No trick with an address leads off the list: nobody connects, and nothing is looked up."""

import asyncio

import httpx
import pytest
from egress_world import CountingNetwork, Resolver, client

from toolmd._egress import DomainNotApprovedError

ALLOWED = ("api.example.com", "*.ncbi.nlm.nih.gov", "203.0.113.7", "münchen.example")

HOSTILE = """
http://evil.com/
https://evil.com/
http://example.com/
http://api.example.com.evil.com/
http://evil-api.example.com/
http://xapi.example.com/
http://api.example.com./
http://www.api.example.com/
http://api-example.com/
http://apiXexample.com/
http://ncbi.nlm.nih.gov/
http://evilncbi.nlm.nih.gov/
http://.ncbi.nlm.nih.gov/
http://*.ncbi.nlm.nih.gov/
http://a..ncbi.nlm.nih.gov/
http://-a.ncbi.nlm.nih.gov/
http://eutils.ncbi.nlm.nih.gov.evil.com/
http://eutils.ncbi.nlm.nih.gov./
http://api.example.com@evil.com/
http://api.example.com:80@evil.com/
http://api.example.com%40evil.com/
http://user@api.example.com/
http://user:secret@api.example.com/
http://@evil.com/
http://evil.com#api.example.com
http://evil.com#@api.example.com/
http://evil.com?@api.example.com/
http://evil.com\\@api.example.com/
http://evil.com\\.api.example.com/
http://api.example.com\\@evil.com/
http://api.example.com\\.evil.com/
http:\\\\api.example.com/
http:/\\evil.com/
http://evil.com;api.example.com/
http://evil.com,api.example.com/
http://evil.com%2fapi.example.com/
http://evil.com%2eapi.example.com/
http://evil.com%00.ncbi.nlm.nih.gov/
http://evil.com%0d%0a.ncbi.nlm.nih.gov/
http://evil.com .ncbi.nlm.nih.gov/
http://evil.com\t.ncbi.nlm.nih.gov/
http://api.example.com:22/
http://api.example.com:8080/
http://api.example.com:443/
https://api.example.com:80/
http://api.example.com:0/
http://api.example.com:99999/
http://api.example.com:80:80/
http://api.example.com:-1/
http://аpi.example.com/
http://api.exаmple.com/
http://api.example.соm/
http://ａpi.example.com.evil.com/
http://xn--pi-7kc.example.com/
http://xn--mnchen-3ya.example.evil.com/
http://api.example.com\u200b/
http://api.example.com\u2044evil.com/
http://127.0.0.1/
http://127.1/
http://127.0.1/
http://2130706433/
http://0x7f000001/
http://0x7f.0.0.1/
http://0177.0.0.1/
http://017700000001/
http://127.0.0.1./
http://127.000.000.001/
http://①②⑦.⓪.⓪.①/
http://localhost/
http://localhost.localdomain/
http://LOCALHOST/
http://0.0.0.0/
http://0/
http://10.0.0.1/
http://172.16.0.1/
http://192.168.0.1/
http://100.64.0.1/
http://169.254.169.254/latest/meta-data/
http://169.254.169.254.nip.io/
http://0xA9FEA9FE/
http://2852039166/
http://metadata.google.internal/
http://168.63.129.16/
http://100.100.100.200/
http://224.0.0.1/
http://240.0.0.1/
http://255.255.255.255/
http://[::1]/
http://[::]/
http://[::ffff:127.0.0.1]/
http://[::ffff:203.0.113.7]/
http://[::ffff:7f00:1]/
http://[0:0:0:0:0:ffff:127.0.0.1]/
http://[::127.0.0.1]/
http://[64:ff9b::127.0.0.1]/
http://[64:ff9b:1::1]/
http://[2002:7f00:1::]/
http://[2001:0:7f00:1::]/
http://[fe80::1]/
http://[fe80::1%25eth0]/
http://[fc00::1]/
http://[fd00:ec2::254]/
http://[ff02::1]/
http://[::1/
http://[]/
http://203.0.113.8/
http://203.0.113.7.evil.com/
http://203.0.113.07/
http://0313.0.113.7/
http://3405803783/
http:///
http://
http:evil.com
https:///evil.com
//evil.com/
///evil.com/
/etc/passwd
evil.com
file:///etc/passwd
file://api.example.com/etc/passwd
ftp://api.example.com/
gopher://api.example.com:70/_
dict://api.example.com:11211/
ws://api.example.com/
unix:///var/run/docker.sock
http+unix://%2Fvar%2Frun%2Fdocker.sock/
data:text/plain,hello
javascript:alert(1)
jar:http://api.example.com!/
ssh://api.example.com/
http://api.example.com<CRLF>Host: evil.com/
http://api.example.com%0d%0aHost:%20evil.com/
""".strip("\n").split("\n")
HOSTILE = [url.replace("<CRLF>", "\r\n") for url in HOSTILE]


@pytest.mark.parametrize("url", HOSTILE)
def test_a_hostile_address_is_rejected_before_anything_is_sent(url):
    network, resolver = CountingNetwork(), Resolver(["93.184.215.14"])

    async def main():
        async with client(ALLOWED, resolver=resolver, network=network) as http:
            await http.get(url, follow_redirects=True)

    with pytest.raises(DomainNotApprovedError) as refused:
        asyncio.run(main())
    assert refused.value.code == "domain_not_approved"
    assert "secret" not in str(refused.value)
    assert (network.asked, resolver.asked) == ([], [])


def test_the_corpus_is_large():
    assert len(set(HOSTILE)) == len(HOSTILE) > 100


@pytest.mark.parametrize(
    ("url", "address", "port"),
    [
        ("http://api.example.com/", "93.184.215.14", 80),
        ("https://api.example.com/", "93.184.215.14", 443),
        ("HTTP://API.EXAMPLE.COM/x", "93.184.215.14", 80),
        ("http://eutils.ncbi.nlm.nih.gov/", "93.184.215.14", 80),
        ("http://a.b.ncbi.nlm.nih.gov/", "93.184.215.14", 80),
        ("http://203.0.113.7:8765/", "203.0.113.7", 8765),
        ("http://münchen.example/", "93.184.215.14", 80),
        ("http://xn--mnchen-3ya.example/", "93.184.215.14", 80),
    ],
)
def test_a_listed_domain_is_reached_at_its_address(url, address, port):
    network = CountingNetwork()

    async def main():
        async with client(ALLOWED, network=network) as http:
            await http.get(url)

    with pytest.raises(httpx.ConnectError):
        asyncio.run(main())
    assert network.asked == [(address, port)]
