"""The tables `[services.NAME]`: read strictly, with credentials from the environment only."""

import json
from pathlib import Path
from typing import Any

import pytest
from echo_service import EchoService, ServiceProject

from toolmd import Workspace
from toolmd._cli.verbs.about import examine
from toolmd.config import load_settings
from toolmd.errors import ConfigError

URL = 'url = "https://api.example.com/v1"'
SECRET = "correct-token"


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("timeout = 3", "a table with url"),
        ('url = "ftp://x"', "http:// or https://"),
        ('url = "https://me:s3cret@x.example"', "without user"),
        ('url = "https://x.example/?key=s3cret"', "query"),
        ('url = "https://x.example:99999"', "http:// or https://"),
        (f"{URL}\ntimeout = 0", "timeout"),
        (f"{URL}\nretries = 1", "unknown key 'retries'"),
        (f'{URL}\nheaders = {{"X Y" = "1"}}', "not a header"),
        (f'{URL}\nheaders = {{Host = "other"}}', "not a header"),
        (f'{URL}\nheaders = {{X = "a\\r\\nY: 1"}}', "one line"),
        (f'{URL}\nheaders = {{X = "s3cret$"}}', "name of a variable"),
        (f'{URL}\nheaders = {{X = "1", x = "2"}}', "twice"),
        (f'{URL}\nauth = "s3cret"', "a table with type"),
        (f'{URL}\nauth = {{type = "bearer", token = "s3cret"}}', "environment variable"),
        (f'{URL}\nauth = {{type = "basic", user = "$U"}}', "exactly type, user, password"),
        (f'{URL}\nauth = {{type = "header", name = "Host", value = "$V"}}', "not a header"),
        (f'{URL}\nauth = {{type = "query", name = "a b", value = "$V"}}', "name must be"),
        (f'{URL}\nheaders = {{Authorization = "x"}}\nauth = {{type = "bearer", token = "$T"}}',
         "set twice"),
    ],
)  # fmt: skip
def test_a_table_that_can_not_be_read_is_an_error_that_shows_no_secret(
    tmp_path: Path, table: str, said: str
) -> None:
    ServiceProject(tmp_path, {"shop": table})

    with pytest.raises(ConfigError) as raised:
        load_settings(tmp_path)

    assert said in str(raised.value)
    assert "services.shop" in str(raised.value)
    assert "s3cret" not in str(raised.value)


def test_services_can_stand_in_the_environment_as_json(tmp_path: Path) -> None:
    text = json.dumps({"shop": {"url": "https://api.example.com/", "timeout": 5}})

    settings = load_settings(tmp_path, environ={"TOOLMD_SERVICES": text})

    assert settings.services["shop"].url == "https://api.example.com"
    assert settings.services["shop"].timeout == 5


SCHEMES = {
    "bearer": 'auth = {type = "bearer", token = "$SHOP_TOKEN"}',
    "basic": 'auth = {type = "basic", user = "${SHOP_USER}", password = "${SHOP_TOKEN}"}',
    "header": 'auth = {type = "header", name = "X-Key", value = "$SHOP_TOKEN"}',
    "query": 'auth = {type = "query", name = "key", value = "$SHOP_TOKEN"}',
    "cookie": 'auth = {type = "cookie", name = "session", value = "$SHOP_TOKEN"}',
    "headers": 'headers = {Authorization = "Bearer ${SHOP_TOKEN}"}',
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_each_scheme_opens_the_service_and_wrong_credentials_do_not(
    tmp_path: Path, service: EchoService, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = ServiceProject(tmp_path, {"shop": f'url = "{service.url}"\n{SCHEMES[scheme]}'})
    project.tool("ask", "http GET /guarded", {})
    monkeypatch.setenv("SHOP_USER", "ann")
    monkeypatch.delenv("SHOP_TOKEN", raising=False)
    with Workspace.open(tmp_path) as workspace:
        without = workspace.call_sync("ask", {})
        monkeypatch.setenv("SHOP_TOKEN", "another-token")
        wrong = workspace.call_sync("ask", {})
        monkeypatch.setenv("SHOP_TOKEN", SECRET)
        right = workspace.call_sync("ask", {})

    assert without.error is not None
    assert "SHOP_TOKEN" in without.error.message
    assert wrong.error is not None
    assert "401" in wrong.error.message
    assert "another-token" not in wrong.error.message
    assert right.success
    assert right.data["allowed"]
    assert SECRET not in json.dumps(right.data)


def test_no_secret_is_in_the_audit_or_in_a_message(
    tmp_path: Path, service: EchoService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "a\nb-secret")
    project = ServiceProject(
        tmp_path, {"shop": f'url = "{service.url}"\n{SCHEMES["bearer"]}'}
    )  # fmt: skip
    project.tool("ask", "http GET /guarded", {})
    with Workspace.open(tmp_path) as workspace:
        result = workspace.call_sync("ask", {})

    assert result.error is not None
    assert "b-secret" not in str(result.to_dict())
    records = b"".join(p.read_bytes() for p in (tmp_path / ".toolmd").rglob("*") if p.is_file())
    assert b"b-secret" not in records
    assert service.received == []


def test_a_variable_that_is_not_set_is_told_before_a_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SHOP_TOKEN", raising=False)
    project = ServiceProject(tmp_path, {"shop": f"{URL}\n{SCHEMES['bearer']}"})
    project.tool("ask", "http GET /guarded", {})
    with Workspace.open(tmp_path) as workspace:
        (told,) = [one for one in workspace.diagnostics if one.code == "unset-variable"]
    assert (told.severity, "SHOP_TOKEN" in told.message) == ("warning", True)
    signs = {sign.about: sign for sign in examine(tmp_path)}
    assert signs["service shop"].found == "SHOP_TOKEN not set in the environment"


REQUIRED = "- **Type**: string\n- **Required**: true"
MISFITS: list[tuple[str, dict[str, str], str]] = [
    ("http GET shops:/x", {}, "did you mean 'shop'?"),
    ("http GET /x", {}, "does not say which service"),
    ("http GET shop:/x/{id}", {}, "no parameter fills it"),
    ("http GET shop:/x/{id}", {"id": "- **Type**: string"}, "is optional"),
    ("http GET shop:/x", {"id": f"{REQUIRED}\n- **Sent In**: path"}, "no parameters"),
    ("http GET shop:/x", {"id": f"{REQUIRED}\n- **Sent In**: pocket"}, "'pocket'"),
    ("http GET shop:/x", {"id": f"{REQUIRED}\n- **Sent In**: body"}, "GET has none"),
    ("http POST shop:/x", {"id": f"{REQUIRED}\n- **Sent In**: header Host"}, "no argument may"),
    ("http POST shop:/x", {"id": f"{REQUIRED}\n- **Sent In**: header x-team"}, "set already"),
    ("http POST shop:/x", {"id": f"{REQUIRED}\n- **Sent In**: query key"}, "set already"),
    ("http GET shop:/x", {"id": "- **Type**: object"}, "is an object"),
    ("http POST shop:/x",
     {"a": "- **Type**: any\n- **Sent In**: whole body", "b": REQUIRED}, "several ways"),
]  # fmt: skip


@pytest.mark.parametrize(("operation", "parameters", "said"), MISFITS)
def test_a_tool_that_does_not_fit_its_service_is_listed_reported_and_denied(
    tmp_path: Path,
    service: EchoService,
    operation: str,
    parameters: dict[str, str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", SECRET)
    headers = f'headers = {{"X-Team" = "1"}}\n{SCHEMES["query"]}'
    tables = {"shop": f'url = "{service.url}"\n{headers}', "other": URL}
    project = ServiceProject(tmp_path, tables)
    project.tool("ask", operation, parameters)
    arguments: dict[str, Any] = {
        name: "v" for name in parameters if "object" not in parameters[name]
    }
    with Workspace.open(tmp_path) as workspace:
        tool = workspace.tools["ask"]
        assert tool.binding.inspect is not None
        told = tool.binding.inspect()
        result = workspace.call_sync("ask", arguments)

    assert {found.code for found in told} == {"invalid-operation"}
    assert said in " ".join(f"{found.message} {found.help}" for found in told)
    assert not result.success
    assert service.received == []


def test_allowed_domains_restrict_a_service_too(tmp_path: Path, service: EchoService) -> None:
    project = ServiceProject(tmp_path, {"shop": f'url = "{service.url}"'})
    limits = "\n## Limits\n\n- **Allowed Domains**: {}\n"
    project.tool("inside", "http GET /x", {}, limits.format("127.0.0.1"))
    project.tool("outside", "http GET /x", {}, limits.format("api.example.com"))
    with Workspace.open(tmp_path) as workspace:
        inside, outside = workspace.call_sync("inside", {}), workspace.call_sync("outside", {})

    assert inside.success
    assert outside.error is not None
    assert "Allowed Domains" in outside.error.message
    assert len(service.received) == 1


def test_a_changed_service_makes_a_pending_confirmation_stale(
    tmp_path: Path, service: EchoService
) -> None:
    table = f'url = "{service.url}"'
    project = ServiceProject(tmp_path, {"shop": table})
    project.tool("drop", "http DELETE /x", {}, "\n## Safety\n\n- **Requires Confirmation**: true\n")
    with Workspace.open(tmp_path) as workspace:
        asked = workspace.call_sync("drop", {}, user="u")
        assert asked.confirmation is not None
        (tmp_path / "toolmd.toml").write_text(f'[services.shop]\n{table[:-1]}/elsewhere"\n')
        workspace.reload()
        after = workspace.confirmations.approve_sync(asked.confirmation.id, user="u")

    assert after.error is not None
    assert after.error.code == "confirmation_stale"
    assert service.received == []
