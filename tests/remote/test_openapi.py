"""The operations of an OpenAPI document become tools that call the service."""

import json
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from echo_service import EchoService, json_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.command import run_command

from toolmd import Workspace, parse_tool
from toolmd._import.functions import UnreadableSourceError
from toolmd._import.openapi import read_service
from toolmd.config.values import Origin, read_setting

DOCUMENT = """\
openapi: 3.0.3
info: {{title: Pet Store, version: "1"}}
servers: [{{url: "{url}"}}]
security: [{{key: []}}]
paths:
  /pets/{{petId}}:
    parameters:
      - $ref: '#/components/parameters/PetId'
    get:
      operationId: getPet
      summary: Return one pet.
      parameters:
        - {{name: "fields[]", in: query, schema: {{type: array, items: {{type: string}}}}}}
        - {{name: X-Key, in: header, schema: {{type: string}}}}
        - {{name: Accept, in: header, schema: {{type: string}}}}
        - {{name: X-Trace, in: header, description: For logs., schema: {{type: string}}}}
      responses:
        200:
          description: The pet
          content: {{application/json: {{schema: {{type: object}}}}}}
    delete:
      summary: Remove a pet
      responses: {{204: {{description: Gone}}}}
  /pets:
    post:
      operationId: addPet
      deprecated: true
      requestBody:
        required: true
        content:
          application/json:
            schema: {{$ref: '#/components/schemas/Pet'}}
      responses: {{201: {{description: Added}}}}
    options: {{responses: {{}}}}
  /photos:
    post:
      operationId: addPhoto
      requestBody: {{required: true, content: {{image/png: {{}}}}}}
      responses: {{}}
  /lists:
    put:
      operationId: putList
      requestBody: {{content: {{application/json: {{schema:
        {{type: array, items: {{type: integer}}}}}}}}}}
      responses: {{}}
components:
  parameters:
    PetId: {{name: petId, in: path, required: true, schema:
      {{type: integer, minimum: 0, exclusiveMinimum: true}}}}
  schemas:
    Pet:
      type: object
      required: [name]
      properties:
        id: {{type: integer, readOnly: true}}
        name: {{type: string, minLength: 1}}
        born: {{type: string, format: date, nullable: true, example: 2020-01-31}}
        owner: {{$ref: '#/components/schemas/Owner'}}
    Owner: {{type: object, properties: {{name: {{type: string}}}}}}
  securitySchemes:
    key: {{type: apiKey, in: header, name: X-Key}}
"""


BOMB = "openapi: 3.1.0\na: &a [x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in pairwise("abcdefghijk")
)


@pytest.fixture
def project(tmp_path: Path, service: EchoService, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "toolmd.toml").write_text("plugins = []  # none\n")
    (tmp_path / "pets.yaml").write_text(DOCUMENT.format(url=service.url))
    monkeypatch.setenv("PET_STORE_KEY", "secret-key")
    return tmp_path


def test_a_document_becomes_tools_that_can_be_called_at_once(
    project: Path, service: EchoService
) -> None:
    done = run_command(project, "import", "openapi", "pets.yaml")
    assert run_command(project, "check").code == 0

    with Workspace.open(project) as workspace:
        found = workspace.call_sync("get_pet", {"petId": 7, "fields": ["a", "b"], "X-Trace": "t"})
        added = workspace.call_sync("add_pet", {"name": "Rex", "owner": {"name": "Ana"}})
        listed = workspace.call_sync("put_list", {"body": [1, 2]})
        removed = workspace.call_sync("delete_pets_pet_id", {"petId": 7})
        assert workspace.call_sync("get_pet", {"petId": 0}).outcome == "denied"
        assert workspace.call_sync("add_pet", {"name": ""}).outcome == "denied"
        tools = {name: tool.spec for name, tool in workspace.tools.items()}

    assert [one.outcome for one in (found, added, listed, removed)] == ["ok", "ok", "ok", "confirm"]
    get, post, put = service.received
    assert (get["method"], get["path"]) == ("GET", "/api/pets/7")
    assert get["query"] == [("fields[]", "a"), ("fields[]", "b")]
    assert (get["headers"]["x-trace"], get["headers"]["x-key"]) == ("t", "secret-key")
    assert json_of(post) == {"name": "Rex", "owner": {"name": "Ana"}}
    assert json_of(put) == [1, 2]
    assert tools["get_pet"].read_only
    assert tools["put_list"].idempotent == "yes"
    assert "X-Key" not in {one.name for one in tools["get_pet"].parameters}
    assert "id" not in {one.name for one in tools["add_pet"].parameters}
    told = done.err
    assert "add_pet: the document calls it deprecated" in told
    assert "DELETE: Requires Confirmation was proposed" in told
    assert "add_photo: the body is image/png; JSON and forms can be sent" in told
    assert "options /pets: no method that a tool can call" in told
    assert "called 'fields[]' in the document" in told


def test_the_table_of_the_service_is_added_once_and_the_rest_of_the_settings_stays(
    project: Path, service: EchoService
) -> None:
    run_command(project, "import", "openapi", "pets.yaml")
    text = (project / "toolmd.toml").read_text()
    again = run_command(project, "import", "openapi", "pets.yaml", "--force")

    assert text == (
        f'plugins = []  # none\n\n[services.pet_store]\nurl = "{service.url}"\n'
        'auth = { type = "header", name = "X-Key", value = "$PET_STORE_KEY" }\n'
        'document = "pets.yaml"\n'
    )
    assert (project / "toolmd.toml").read_text() == text
    assert "it stays as it is" in again.err


def test_a_service_may_be_named_and_settings_may_be_in_the_pyproject(
    tmp_path: Path, service: EchoService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_KEY", "secret-key")
    (tmp_path / "pyproject.toml").write_text("[tool.toolmd]\nplugins = []\n")
    (tmp_path / "pets.yaml").write_text(DOCUMENT.format(url=service.url))

    run_command(tmp_path, "import", "openapi", "pets.yaml", "--service", "shop")

    assert "[tool.toolmd.services.shop]" in (tmp_path / "pyproject.toml").read_text()
    assert run_command(tmp_path, "check").code == 0


@pytest.mark.parametrize(
    "schemes",
    [
        [{"type": "apiKey", "in": "header", "name": "X Key"}],
        [{"type": "apiKey", "in": "header", "name": "Host"}],
        [{"type": "apiKey", "in": "header", "name": "Authorization"},
         {"type": "http", "scheme": "bearer"}],
        [{"type": "apiKey", "in": "header", "name": "X-Key"},
         {"type": "apiKey", "in": "header", "name": "x-key"}],
    ],
)  # fmt: skip
def test_after_an_import_every_command_can_read_the_settings(
    tmp_path: Path, schemes: list[dict[str, str]]
) -> None:
    names = {f"k{at}": one for at, one in enumerate(schemes)}
    document = {
        "openapi": "3.1.0", "servers": [{"url": "https://a.example"}],
        "security": [{name: [] for name in names}],
        "components": {"securitySchemes": names}, "paths": {"/a": {"get": {}}},
    }  # fmt: skip
    (tmp_path / "toolmd.toml").write_text("plugins = []\n")
    (tmp_path / "a.json").write_text(json.dumps(document))

    made = run_command(tmp_path, "import", "openapi", "a.json")

    assert "can't be carried over" in made.err
    assert run_command(tmp_path, "check").code == 0


def _document(operation: dict[str, Any], path: dict[str, Any] | None = None) -> str:
    document = {"openapi": "3.0.3", "info": {"title": "s"}, "servers": [{"url": "https://a.example"}],
                "paths": {"/a": {**(path or {}), "patch": {"operationId": "a", **operation}},
                          "/b": {"get": {"operationId": "b"}}}}  # fmt: skip
    return json.dumps(document)


@pytest.mark.parametrize(
    ("kinds", "sent"),
    [
        (["application/json"], None),
        (["Application/JSON; charset=utf-8"], None),
        (["application/merge-patch+json"], "body as application/merge-patch+json"),
        (["application/scim+json; v=1"], "body as application/scim+json;v=1"),
        (["application/merge-patch+json", "application/json"], None),
        (["Application/X-WWW-Form-Urlencoded; charset=utf-8"], "form"),
    ],
)
def test_a_body_has_the_media_type_of_the_document(kinds: list[str], sent: str | None) -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    content = {kind: {"schema": schema} for kind in kinds}
    made, _ = read_service(_document({"requestBody": {"content": content}}), "x", only=["a"])
    spec, _ = parse_tool(made.drafts[0].text, "a.tool.md")
    assert spec is not None
    assert [one.shape.sent_in for one in spec.parameters] == [sent]


def test_a_field_of_a_form_is_sent_as_its_encoding_has_it() -> None:
    inner = {"type": "object", "properties": {"city": {"type": "string"}}}
    rows = {"type": "array", "items": inner}
    fields = {"deep": inner, "rows": rows, "apart": inner, "text": inner, "tags": {"type": "array"}}
    deep = {"style": "deepObject", "explode": True}
    encoding = {"deep": deep, "rows": deep, "text": {"contentType": "application/json"},
                "tags": {"style": "form", "explode": False}}  # fmt: skip
    form = {"schema": {"type": "object", "properties": fields}, "encoding": encoding}
    kind = "application/x-www-form-urlencoded"
    made, _ = read_service(_document({"requestBody": {"content": {kind: form}}}), "x", only=["a"])
    spec, _ = parse_tool(made.drafts[0].text, "a.tool.md")
    assert spec is not None
    assert {one.name: one.shape.sent_in for one in spec.parameters} == {
        "deep": "form as brackets", "rows": "form as brackets", "city": "form",
        "text": "form as json", "tags": "form as commas",
    }  # fmt: skip
    plain = {kind: {"schema": {"type": "object", "properties": {"rows": rows}}}}
    made, _ = read_service(_document({"requestBody": {"content": plain}}), "x", only=["a"])
    assert [str(one) for one in made.refused] == [
        "a: `rows` is an array of objects, which 'form' can't hold"
    ]


@pytest.mark.parametrize("of_the_path", [True, False])
def test_an_operation_with_a_server_of_its_own_gets_a_table_of_its_own(
    *, of_the_path: bool
) -> None:
    own = {"servers": [{"url": "https://up.example/v2"}]}
    text = _document({} if of_the_path else own, own if of_the_path else None)
    made, tables = read_service(text, "x")
    urls = {one.name: one.url for one in tables}
    assert urls == {"s": "https://up.example/v2", "s_a_example": "https://a.example"}
    assert not made.refused
    relative = {"servers": [{"url": "/v2"}]}
    made, _ = read_service(_document(relative), "x")
    assert [one.definition for one in made.refused] == ["a"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no document of OpenAPI"),
        ("{}", "no document of OpenAPI"),
        ('{"openapi": "2.0"}', "no document of OpenAPI"),
        ("swagger: '2.0'", "no document of OpenAPI"),
        ("a: [", "neither JSON nor YAML"),
        ("{" * 5000, "neither JSON nor YAML"),
        (BOMB, "values"),
    ],
)  # fmt: skip
def test_another_text_is_rejected_with_the_reason(text: str, said: str) -> None:
    with pytest.raises(UnreadableSourceError, match=said):
        read_service(text, "x")


def test_a_service_without_an_address_is_told() -> None:
    document = {"openapi": "3.1.0", "paths": {"/a": {"get": {}}}}
    made, service = read_service(json.dumps(document), "a.json")

    assert service
    assert "write the url of the service" in " ".join(note.text for note in made.notes)
    _, service = read_service(json.dumps(document), "https://a.example/v1/openapi.json")
    assert service[0].url == "https://a.example"


def _parameter(name: str, schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": schema, **more}


def test_styles_of_parameters_are_kept_or_the_operation_is_rejected() -> None:
    array = {"type": "array", "items": {"type": "string"}}
    object_ = {"type": "object", "properties": {"min": {"type": "integer"}}}
    parameters = [
        _parameter("a", array),
        _parameter("b", array, explode=False),
        _parameter("c", array, style="pipeDelimited", explode=False),
        _parameter("d", object_, style="deepObject"),
        _parameter("e", object_, explode=False),
        _parameter("f", object_),
        {"name": "g", "in": "query", "content": {"application/json": {"schema": object_}}},
    ]
    label = {"name": "id", "in": "path", "required": True, "style": "label", "schema": {}}
    document = {
        "openapi": "3.1.0",
        "paths": {
            "/a": {"get": {"operationId": "a", "parameters": parameters}},
            "/b/{id}": {"get": {"operationId": "b", "parameters": [label]}},
            "/c": {"get": {"operationId": "c", "tags": ["other"]}},
        },
    }
    made, _ = read_service(json.dumps(document), "x", only=["a", "/b/*"])
    (draft,), (refused,) = made.drafts, made.refused

    spec, _ = parse_tool(draft.text, "a.tool.md")
    assert spec is not None
    assert {one.name: one.shape.sent_in for one in spec.parameters} == {
        "a": None, "b": "query as commas", "c": "query as pipes", "d": "query as brackets",
        "e": "query as commas", "min": None, "g": "query as json",
    }  # fmt: skip
    assert str(refused) == "b: `id` is written in the style 'label', which can't be sent"


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
@pytest.mark.parametrize(
    "shape",
    [
        {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"oneOf": [{"type": "object"}, {"type": "string"}]},
        {"oneOf": [{"type": "object"}, {"type": "null"}]},
        {"allOf": [{"$ref": "#/components/schemas/Own"}]},
        {"$ref": "#/components/schemas/Own"},
        {"enum": ["a", None]},
        {},
    ],
)
def test_the_place_of_an_argument_is_kept_whatever_its_shape(
    version: str, shape: dict[str, Any]
) -> None:
    fields = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    whole = {**shape} if "$ref" in shape else {"nullable": True, **fields, **shape}
    document = {
        "openapi": version,
        "components": {"schemas": {"Own": {**fields, "additionalProperties": {"type": "string"},
                                           "nullable": True, "x-sent-in": "header Host"}}},
        "paths": {
            "/a": {
                "post": {
                    "operationId": "a",
                    "parameters": [_parameter("q[]", {"nullable": True, "type": "string", **shape},
                                              style="deepObject")],
                    "requestBody": {"required": True,
                                    "content": {"application/json": {"schema": {
                                        "additionalProperties": {"type": "string"}, **whole}}}},
                }
            }
        },
    }  # fmt: skip
    (draft,) = read_service(json.dumps(document), "x")[0].drafts

    spec, found = parse_tool(draft.text, "a.tool.md")

    assert spec is not None, found
    assert [one.shape.sent_in for one in spec.parameters] == ["query q[] as brackets", "whole body"]


def test_operations_of_different_credentials_call_different_services() -> None:
    schemes = {
        "token": {"type": "http", "scheme": "bearer"},
        "oauth": {"type": "oauth2", "flows": {}},
        "card": {"type": "mutualTLS"},
    }
    ways = {
        "/a": [{"token": []}],
        "/b": [{"oauth": ["read", "write"]}, {"token": []}],
        "/c": [{"oauth": ["admin"]}],
        "/d": [],
        "/e": [{"card": []}],
        "/f": [{"token": [], "oauth": []}],
    }
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Shop"},
        "paths": {path: {"get": {"security": way}} for path, way in ways.items()},
        "components": {"securitySchemes": schemes},
    }
    made, services = read_service(json.dumps(document), "x")

    called = {one.name: one.text.partition(" GET ")[2].partition(":")[0] for one in made.drafts}
    assert called == {
        "get_a": "shop_token", "get_b": "shop_oauth", "get_c": "shop_oauth", "get_d": "shop",
        "get_e": "shop", "get_f": "shop",
    }  # fmt: skip
    tables = "".join(one.text() for one in services)
    assert "# scopes: read write admin\nauth = " in tables
    assert read_setting("services", tomllib.loads(tables)["services"], Origin("x", "services"))
    told = " ".join(note.text for note in made.notes)
    assert "its way to sign in, card, can't be carried over" in told
    assert "its way to sign in, oauth, token, can't be carried over" in told


WORDS = st.sampled_from(
    "openapi paths /a/{b} get post parameters in name path query schema type object properties"
    " requestBody content application/json $ref #/paths security components responses 200 servers"
    " url required".split()
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=25,
)


@settings(
    max_examples=2 * settings.default.max_examples, suppress_health_check=[HealthCheck.too_slow]
)
@given(VALUES, VALUES, VALUES)
def test_any_document_is_read_or_rejected(paths: Any, operation: Any, components: Any) -> None:
    item = {"get": operation, "post": operation}
    document = {
        "openapi": "3.1.0",
        "paths": {"/a/{b}": item, "/c": paths},
        "components": components,
    }
    made, _ = read_service(json.dumps(document), "x")
    assert made.drafts or made.refused


def test_operations_whose_names_differ_behind_their_end_are_all_imported() -> None:
    long = "orgs/custom-properties-for-repos-create-or-update-organization-"
    ids = [f"{long}definition", f"{long}definitions", "list", "list", "list_2"]
    document = {
        "openapi": "3.0.3",
        "paths": {f"/{at}": {"get": {"operationId": own}} for at, own in enumerate(ids)},
    }

    def names(*only: str) -> dict[str, str]:
        imported, _ = read_service(json.dumps(document), "x.json", only=only)
        assert not imported.refused
        texts = {draft.name: draft.text for draft in imported.drafts}
        return {name: text.partition("http GET service:")[2][:2] for name, text in texts.items()}

    cut = "orgs_custom_properties_for_repos_create_or_update_organization_"
    every = names()
    assert every == {f"{cut}d": "/0", f"{cut[:-1]}_2": "/1", "list": "/2", "list_3": "/3",
                     "list_2": "/4"}  # fmt: skip
    for name, path in every.items():
        assert names(path) == {name: path}


GENERATED = """
openapi: 3.1.0
info: {title: Shop, version: '1'}
servers: [{url: http://127.0.0.1:9}]
paths:
  /items/{item_id}:
    parameters: [{name: item_id, in: path, required: true, schema: {type: string}}]
    get: {operationId: read_item_items__item_id__get, responses: {}}
    put: {operationId: put_items__item_id__put, responses: {}}
    delete: {operationId: drop_items__item_id__delete, responses: {}}
  /v2/items: {get: {operationId: drop_v2_items_get, responses: {}}}
  /own: {get: {operationId: read_own, responses: {}}}
"""


def test_a_generated_operation_id_is_shortened_to_the_functions_name_where_that_is_unique() -> None:
    imported, _ = read_service(GENERATED, "shop.yaml")
    only, _ = read_service(GENERATED, "shop.yaml", "", ["/items/*"])
    notes = [f"{note.definition}: {note.text}" for note in imported.notes]

    names = ["read_item", "put", "drop_items__item_id__delete", "drop_v2_items_get", "read_own"]
    assert [draft.name for draft in imported.drafts] == names
    assert [draft.name for draft in only.drafts] == names[:3]
    called = "called 'read_item_items__item_id__get' in the document, which was generated"
    assert f"read_item: {called}" in notes
    by_long_name, _ = read_service(GENERATED, "shop.yaml", "", ["*__item_id__get"])
    assert [draft.name for draft in by_long_name.drafts] == names[:1]
