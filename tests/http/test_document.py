"""The OpenAPI document: valid, complete, and true for generated requests."""

from contextlib import suppress
from typing import Any

import httpx
import openapi_spec_validator
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from kiosk import GUESTS, Kiosk
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)
from tests import definitions

from toolmd._auth.authentication import CONTEXT, CONVERSATION, ROLES, USER

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
NOT_FUZZED = "^/api/events$"
"""A stream does not end."""


def test_it_is_valid_and_names_every_route_and_every_tool(api: httpx.Client, kiosk: Kiosk) -> None:
    document = api.get("/openapi.json").json()

    openapi_spec_validator.validate(document)
    assert document["openapi"].startswith("3.1")
    served = {route.path.replace(":path", "") for _, route in kiosk.server.api.routes()}
    tools = {f"/api/tools/{name}/call" for name in kiosk.workspace.tools}
    skills = {f"/api/skills/{name}/run" for name in kiosk.workspace.skills}
    assert document["paths"].keys() == served | tools | skills
    stated = {
        "/api/tools", "/api/tools/{name}", "/api/tools/{name}/call", "/api/handle", "/api/pending",
        "/api/pending/{id}", "/api/skills/{name}/run", "/api/runs", "/api/runs/{id}",
        "/api/diagnostics", "/api/events", "/openapi.json", "/health",
    }  # fmt: skip
    assert stated <= document["paths"].keys()
    ids = [one["operationId"] for path in document["paths"].values() for one in path.values()]
    assert len(ids) == len(set(ids))


def test_its_headers_are_those_that_the_server_reads(api: httpx.Client, kiosk: Kiosk) -> None:
    (kiosk.folder / "toolmd.toml").write_text(
        'plugins = []\n[identity.facts]\ncook_shop = "string"'
    )
    fields = "- **Requires Context**: patient\n"
    (kiosk.folder / "tools_md" / "see.tool.md").write_text(definitions.tool("see", metadata=fields))
    kiosk.workspace.reload()
    order = api.get("/openapi.json").json()["paths"]["/api/tools/{name}/call"]["post"]
    headers = {one["name"].lower() for one in order["parameters"] if one["in"] == "header"}
    assert {USER, ROLES, CONVERSATION, f"{CONTEXT}cook-shop", f"{CONTEXT}patient"} == headers


def test_a_tools_own_path_has_its_arguments(api: httpx.Client) -> None:
    paths = api.get("/openapi.json").json()["paths"]
    body = paths["/api/tools/order/call"]["post"]["requestBody"]["content"]["application/json"]

    assert body["schema"]["properties"]["arguments"]["properties"]["count"]["maximum"] == 9
    assert api.get("/api/exports/openapi").json()["items"]["paths"].keys() <= paths.keys()


def test_exports_are_returned_with_their_losses(api: httpx.Client) -> None:
    given = api.get("/api/exports/openai", params={"name": ["order", "dine"]}).json()

    assert {item["function"]["name"] for item in given["items"]} == {"order", "dine"}
    assert isinstance(given["losses"], list)
    assert api.get("/api/exports/nothing").status_code == 404
    assert api.get("/api/exports/openai", params={"name": "nobody"}).status_code == 404


def test_the_records_of_decisions_are_returned_page_by_page(api: httpx.Client) -> None:
    for number in range(3):
        api.post("/api/tools/echo/call", json={"call_id": f"c{number}"})

    first, second = api.get("/api/audit", params={"limit": 2}).json()
    (third,) = api.get("/api/audit", params={"before": second["id"]}).json()
    assert [one["call"] for one in (first, second, third)] == ["c2", "c1", "c0"]
    verified = api.get("/api/audit/verify").json()
    assert (verified["sound"], verified["records"], verified["first_bad"]) == (True, 3, None)
    denied = api.get("/api/audit", params={"outcome": "deny", "since": third["at"]}).json()
    assert {one["decision"] for one in denied} <= {"deny"}
    assert api.get("/api/audit", params={"before": "nothing"}).status_code == 400
    assert api.get("/api/audit", params={"since": "yesterday"}).status_code == 400
    assert api.get("/api/audit", params={"limit": 0}).status_code == 400
    assert api.get("/api/audit", params={"limit": "²"}).status_code == 400


@pytest.mark.parametrize("path", ["/api/audit", "/api/pending", "/api/runs"])
def test_a_parameter_that_is_given_twice_is_rejected_with_the_remedy(
    api: httpx.Client, path: str
) -> None:
    document = api.get("/openapi.json").json()
    asked = [one for one in document["paths"][path]["get"]["parameters"] if one["in"] == "query"]
    assert asked
    for parameter in asked:
        answer = api.get(path, params={parameter["name"]: ["1", "2"]})
        assert answer.status_code == 400
        assert answer.json()["detail"] == (
            f"The parameter {parameter['name']!r} is given twice; give it once."
        )


def test_an_unknown_parameter_is_rejected_where_there_is_none(api: httpx.Client) -> None:
    answer = api.post("/api/tools/echo/call", params={"dry_run": "true"}, json={})
    assert answer.status_code == 400
    assert answer.json()["detail"] == "The parameter 'dry_run' is unknown here; there is none."
    assert api.get("/health", params={"at": "12"}).status_code == 200


def test_every_request_is_answered_as_documented(kiosk: Kiosk) -> None:
    """Send generated requests, valid and invalid, to each operation, as operator and as guest."""
    with kiosk.client() as client:
        schema: Any = schemathesis.openapi.from_dict(
            client.get("/openapi.json").json(), config=SchemathesisConfig.discover()
        )
        sent = [dict(client.headers), {"authorization": f"Bearer {GUESTS['ana']}"}]
    schema.config.base_url = kiosk.url
    done: dict[str, int] = {}
    for result in schema.exclude(path_regex=NOT_FUZZED).get_all_operations():
        operation = result.ok()
        # What is wrong in a tool's arguments is the model's to read: a result, so a 200.
        of_one_tool = "{name}" not in operation.path and operation.path.startswith(
            ("/api/tools/", "/api/skills/")
        )
        checks = CHECKS if of_one_tool else [*CHECKS, negative_data_rejection]
        done[operation.label] = fuzz(operation, sent, checks)
    assert len(done) > 20
    assert sum(done.values()) > 3 * len(done)


def fuzz(operation: Any, callers: list[dict[str, str]], checks: list[Any]) -> int:
    """Return the number of requests that were answered as documented."""
    number = 0
    quick = settings(
        max_examples=3, database=None, deadline=None, derandomize=True,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip

    def ask(case: Any) -> None:
        nonlocal number
        number += 1
        for headers in callers:
            case.call_and_validate(
                base_url=operation.schema.config.base_url, headers=headers, checks=checks
            )

    for mode in schemathesis.GenerationMode:
        # An operation that takes nothing can't be asked wrongly.
        with suppress(Unsatisfiable):
            quick(given(case=operation.as_strategy(generation_mode=mode))(ask))()
    return number
