"""A FHIR R4 server on 127.0.0.1 with recorded resources: search, pages, includes, single reads."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

TOKEN = "token-of-ana"


class FhirServer:
    """Keeps resources by `Type/id`, and remembers what was asked."""

    def __init__(self):
        self.resources = {}
        self.binaries = {}
        self.asked = []
        self.page = 2
        self.next_url = None
        """An address that replaces each `next` link."""
        self.status = None
        self.lacks = ()
        """Types that the server does not offer."""

    def add(self, *resources):
        for one in resources:
            self.resources[f"{one['resourceType']}/{one['id']}"] = one

    def answer(self, path, query):
        parts = path.strip("/").split("/")[1:]
        if len(parts) == 2:
            return self.resources.get("/".join(parts))
        return None if parts[0] in self.lacks else self.search(parts[0], query)

    def search(self, kind, query):
        patient = query["patient"]
        found = [
            one for one in self.resources.values()
            if one["resourceType"] == kind and one["subject"]["reference"] == patient
            and ("category" not in query or self.is_of(one, query["category"]))
        ]  # fmt: skip
        start = int(query.get("_offset", 0))
        page = found[start : start + self.page]
        bundle = {
            "resourceType": "Bundle",
            "type": "searchset",
            "total": len(found),
            "link": [{"relation": "self", "url": f"{self.url}/{kind}"}],
            "entry": [{"resource": one, "search": {"mode": "match"}} for one in page],
        }
        if query.get("_include", "").startswith(f"{kind}:medication"):
            named = {one.get("medicationReference", {}).get("reference") for one in page}
            bundle["entry"] += [
                {"resource": self.resources[name], "search": {"mode": "include"}}
                for name in sorted(named & self.resources.keys())
            ]
        if start + self.page < len(found):
            more = urlencode({**query, "_offset": start + self.page})
            url = self.next_url or f"{self.url}/{kind}?{more}"
            bundle["link"].append({"relation": "next", "url": url})
        return bundle

    def is_of(self, resource, category):
        coded = [code["code"] for one in resource.get("category", []) for code in one["coding"]]
        return category in coded

    @contextmanager
    def open(self):
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                parts = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                fake.asked.append((parts.path, query, dict(self.headers)))
                local = parts.path.removeprefix("/r4/")
                if fake.status is not None:
                    self.reply(fake.status, b"{}", "application/fhir+json")
                elif local in fake.binaries:
                    self.reply(200, fake.binaries[local], "text/plain")
                elif (found := fake.answer(parts.path, query)) is None:
                    self.reply(404, b"{}", "application/fhir+json")
                else:
                    self.reply(200, json.dumps(found).encode(), "application/fhir+json")

            def reply(self, status, body, kind):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        self.url = f"http://127.0.0.1:{server.server_port}/r4"
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
