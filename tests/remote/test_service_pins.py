"""An operation is called only as its document and its table were accepted."""

from pathlib import Path

import pytest
from echo_service import EchoService
from test_openapi import DOCUMENT
from tests.command import run_command

from toolmd import Result, Workspace
from toolmd._import.openapi_document import definitions_of


@pytest.fixture
def project(tmp_path: Path, service: EchoService, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PET_STORE_KEY", "secret-key")
    monkeypatch.setenv("TOOLMD_STORE", "sqlite")
    (tmp_path / "toolmd.toml").write_text("plugins = []\n")
    (tmp_path / "pets.yaml").write_text(DOCUMENT.format(url=service.url))
    run_command(tmp_path, "import", "openapi", "pets.yaml", "--only", "*pet")
    return tmp_path


def _called(project: Path) -> tuple[Result, list[str]]:
    with Workspace.open(project) as workspace:
        result = workspace.call_sync("get_pet", {"petId": 7})
        found = [one.message for one in workspace.diagnostics if one.code == "changed-remote-tool"]
    return result, found


def test_a_changed_document_suspends_its_operation_until_it_is_accepted(
    project: Path, service: EchoService
) -> None:
    before, no_changes = _called(project)
    document = project / "pets.yaml"
    document.write_text(document.read_text().replace("getPet", "getPet\n      deprecated: true", 1))
    looked = run_command(project, "servers", "pet_store")
    suspended, changes = _called(project)
    listed = run_command(project, "list")
    accepted = run_command(project, "servers", "pet_store", "--accept")
    accepted_list = run_command(project, "list")
    after, _ = _called(project)

    assert (before.outcome, no_changes) == ("ok", [])
    assert (looked.code, accepted.code) == (1, 0)
    assert "operation.deprecated was added: true" in looked.out
    assert listed.out.count("remote (suspended)") == 1
    assert "remote (suspended)" in listed.out.partition("get_pet")[2].partition("\n")[0]
    assert "suspended" not in accepted_list.out
    assert (suspended.outcome, suspended.error and suspended.error.code) == (
        "denied", "suspended_tool",
    )  # fmt: skip
    assert any("operation.deprecated was added: true" in one for one in changes)
    assert after.outcome == "ok"
    assert len(service.received) == 2


def test_a_process_that_serves_denies_what_another_process_found_changed(
    project: Path, service: EchoService
) -> None:
    outcomes = []
    with Workspace.open(project) as workspace:
        for more in ("", "\n      deprecated: true", None):
            if more is not None:
                document = project / "pets.yaml"
                document.write_text(document.read_text().replace("getPet", f"getPet{more}", 1))
            words = ("--accept",) if more is None else ()
            run_command(project, "servers", "pet_store", *words)
            result = workspace.call_sync("get_pet", {"petId": 7})
            outcomes.append((result.outcome, sorted(workspace.suspended_tools())))

    assert outcomes == [("ok", []), ("denied", ["get_pet"]), ("ok", [])]
    assert len(service.received) == 2


def test_an_import_that_leaves_out_an_operation_does_not_accept_its_change(project: Path) -> None:
    document = project / "pets.yaml"
    document.write_text(document.read_text().replace("getPet", "getPet\n      deprecated: true", 1))
    (project / "tools_md" / "add-pet.tool.md").unlink()
    again = run_command(project, "import", "openapi", "pets.yaml", "--only", "*pet")
    looked = run_command(project, "servers", "pet_store")
    suspended, _ = _called(project)

    assert (again.out, again.code) == ("made tools_md/add-pet.tool.md\n", 1)
    assert "not imported: get_pet: tools_md/get-pet.tool.md exists already" in again.err
    assert looked.code == 1
    assert suspended.error is not None
    assert suspended.error.code == "suspended_tool"


def test_a_changed_table_suspends_the_service_until_it_is_accepted(
    project: Path, service: EchoService
) -> None:
    _called(project)
    settings = project / "toolmd.toml"
    settings.write_text(settings.read_text().replace(service.url, f"{service.url}/v2"))
    suspended, changes = _called(project)
    run_command(project, "servers", "pet_store", "--accept")
    after, _ = _called(project)

    assert (suspended.outcome, after.outcome) == ("denied", "ok")
    assert any("url was" in one and "/v2" in one for one in changes)
    assert [one["path"] for one in service.received] == ["/api/pets/7", "/api/v2/pets/7"]


def test_a_definition_has_all_that_the_operation_refers_to_and_no_order_of_keys() -> None:
    text = (
        "openapi: 3.1.0\npaths: {/a: {get: {responses: {'200': {$ref: '#/components/responses/R'}"
        "}}}}\ncomponents: {responses: {R: {description: KIND}}, schemas: {Other: {type: UNUSED}}}"
    )
    first = definitions_of(text)
    turned = text.replace("{responses: {R", "{x: 1, responses: {R").replace("UNUSED", "string")

    assert list(first) == ["GET /a"]
    assert definitions_of(turned) == first
    assert definitions_of(text.replace("KIND", "another")) != first


TWO_WAYS = """
openapi: 3.1.0
info: {title: Shop, version: '1'}
servers: [{url: http://127.0.0.1:9}]
components: {securitySchemes: {key: {type: apiKey, in: header, name: X-Key}}}
security: [{key: []}]
paths:
  /orders: {get: {operationId: list_orders, responses: {'200': {description: ok}}}}
  /prices: {get: {operationId: list_prices, security: [], responses: {'200': {description: ok}}}}
  /stock: {get: {operationId: list_stock, responses: {'200': {description: ok}}}}
"""


def test_operations_without_a_file_are_not_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLMD_STORE", "sqlite")
    (tmp_path / "toolmd.toml").write_text("plugins = []\n")
    (tmp_path / "shop.yaml").write_text(TWO_WAYS)
    imported = run_command(
        tmp_path, "import", "openapi", "shop.yaml", "--only", "/orders", "--only", "/prices"
    )
    looked = run_command(tmp_path, "servers")

    assert imported.code == 0, imported.err
    assert looked.code == 0, looked.err
    assert looked.out.splitlines() == [
        "shop: 2 accepted tools, 0 changed, 0 without a valid file (closed)",
        "shop_public: 2 accepted tools, 0 changed, 0 without a valid file (closed)",
    ]
