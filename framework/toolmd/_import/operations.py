"""Read the operations of an OpenAPI document as drafts of tools."""

import re
from collections.abc import Mapping
from typing import Any

from toolmd._import.functions import add_function, returned_shape
from toolmd._import.names import parameter_name, tool_name, words
from toolmd._import.report import ImportReport
from toolmd._types.call_spec import Safety
from toolmd._types.operation import METHODS, read_operation

SCHEMAS = "#/components/schemas/"
"""Where a document has its schemas."""
_BY_QUERY = frozenset(("GET", "HEAD", "DELETE"))
_OF_THE_CLIENT = frozenset(("accept", "authorization", "content-type"))
"""The headers that OpenAPI does not let a parameter describe."""
_FORM = "application/x-www-form-urlencoded"
_READ = frozenset(
    "operationId summary description tags parameters requestBody responses deprecated security"
    " servers externalDocs".split()
)
"""The keys of an operation that the draft or a note has."""


class Operations:
    """Reads the operations of one document."""

    def __init__(self, document: Mapping[str, Any], service: str, report: ImportReport) -> None:
        self._document = document
        self._service = service
        self._report = report
        self.auth: dict[str, dict[str, str]] = {}
        """The credentials that operations need, by the name of their scheme."""
        self._schemas = _mapping(_mapping(document.get("components")).get("schemas"))

    def read(self) -> None:
        """Add a draft for each operation."""
        found = []
        for path, shared in _mapping(self._document.get("paths")).items():
            item = self._resolved(shared)
            for method, operation in item.items():
                if method.upper() in METHODS and isinstance(operation, Mapping):
                    found.append((method.upper(), path, operation, item))
                    # Before any arguments: what one of them needs is sent by all.
                    self._security(_name_of(method, path, operation), operation)
                elif method not in {"parameters", "summary", "description", "servers", "$ref"}:
                    self._report.reject(f"{method} {path}", "no method that a tool can call")
        for one in found:
            self._operation(*one)

    def _operation(
        self, method: str, path: str, operation: Mapping[str, Any], item: Mapping[str, Any]
    ) -> None:
        name = _name_of(method, path, operation)
        where = f"http {method} {self._service}:{path}"
        if read_operation(where) is None:
            self._report.reject(name, f"{method} {path} can't be called: its path is not one")
            return
        if operation.get("servers") or item.get("servers"):
            self._report.note(name, "", "it has servers of its own: the document's are called")
        if operation.get("deprecated") is True:
            self._report.note(name, "", "the document calls it deprecated")
        if odd := sorted(key for key in operation if key not in _READ and key[:2] != "x-"):
            self._report.note(name, "", f"not read: {', '.join(odd)}")
        schema = self._arguments(method, name, operation, item)
        if schema is None:
            return
        entry = {
            "name": name,
            "description": "\n\n".join(
                str(operation[key]).strip()
                for key in ("summary", "description") if operation.get(key)
            ),
            "parameters": schema,
        }  # fmt: skip
        known = {"implemented_by": where, **self._policy(method, name)}
        if (result := self._result(operation)) is not None:
            known["returns"] = returned_shape(result, name, self._report, wrapped=False)
        add_function(entry, self._report, **known)

    def _policy(self, method: str, name: str) -> dict[str, Any]:
        if method in {"GET", "HEAD"}:
            return {"read_only": True}
        if method == "PUT":
            return {"idempotent": "yes"}
        if method == "DELETE":
            self._report.note(name, "", "DELETE: Requires Confirmation was proposed")
            return {"idempotent": "yes", "safety": Safety(requires_confirmation=True)}
        return {}

    def _arguments(
        self, method: str, name: str, operation: Mapping[str, Any], item: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        """Return the JSON Schema of all arguments; None where the operation can't be called."""
        fields: dict[str, Any] = {}
        required: list[str] = []

        def put(own: str, place: str, schema: Any, *, needed: bool) -> None:
            shown = parameter_name(own) or "value"
            if shown in fields:
                shown = f"{place.split(maxsplit=1)[0]}_{shown}"
            usual = "query" if method in _BY_QUERY else "body"
            by_itself = shown == own and place in {"path", usual}
            sent = {} if by_itself else {"x-sent-in": place if shown == own else f"{place} {own}"}
            if place == "whole body":
                sent = {"x-sent-in": place}
            if shown != own:
                self._report.note(name, shown, f"called {own!r} in the document")
            fields[shown] = {**_mapping(schema), **sent}
            if needed:
                required.append(shown)

        if not (self._listed(name, operation, item, put) and self._body(name, operation, put)):
            return None
        return {
            "type": "object", "properties": fields, "required": required,
            "additionalProperties": False, "$defs": self._schemas,
        }  # fmt: skip

    def _listed(
        self, name: str, operation: Mapping[str, Any], item: Mapping[str, Any], put: Any
    ) -> bool:
        """Add the listed parameters; return whether each can be sent."""
        every = (*_list(item.get("parameters")), *_list(operation.get("parameters")))
        listed = {(str(one.get("in")), str(one.get("name"))): one
                  for one in map(self._resolved, every)}  # fmt: skip
        for (place, own), parameter in listed.items():
            if place not in {"path", "query", "header", "cookie"}:
                self._report.reject(name, f"`{own}` is sent in {place!r}, which is unknown")
                return False
            if (place == "header" and own.lower() in _OF_THE_CLIENT) or self._is_credential(
                place, own
            ):
                self._report.note(name, own, "left out: the client and the service's table set it")
                continue
            schema = dict(_mapping(parameter.get("schema")))
            if "content" in parameter:
                self._report.note(name, own, "sent as encoded content: read as text")
                schema = {"type": "string"}
            if parameter.get("description"):
                schema.setdefault("description", parameter["description"])
            if parameter.get("explode") is False or parameter.get("style", "form") not in {
                "form",
                "simple",
            }:
                self._report.note(name, own, "its style is not kept: a list repeats the name")
            put(own, place, schema, needed=place == "path" or parameter.get("required") is True)
        return True

    def _body(self, name: str, operation: Mapping[str, Any], put: Any) -> bool:
        """Add the arguments of the body; return whether it can be sent."""
        body = self._resolved(operation.get("requestBody"))
        content = _mapping(body.get("content"))
        if not content:
            return True
        needed = body.get("required") is True
        kind = next((k for k in content if re.fullmatch(r"application/([\w.+-]+\+)?json", k)), None)
        kind = kind or next((k for k in content if k == _FORM), None)
        if kind is None:
            what = f"the body is {', '.join(content)}; JSON and forms can be sent"
            if needed:
                self._report.reject(name, what)
                return False
            self._report.note(name, "", f"{what}: left out")
            return True
        if len(content) > 1:
            self._report.note(name, "", f"of the body's kinds {kind} is sent")
        schema = _mapping(_mapping(content[kind]).get("schema"))
        inner = self._resolved(schema)
        place = "form" if kind == _FORM else "body"
        plain = "properties" in inner and not {"allOf", "oneOf", "anyOf"} & set(inner)
        if plain and inner.get("additionalProperties", False) in (False, True):
            of_body = _list(inner.get("required"))
            for own, field in inner["properties"].items():
                if _mapping(field).get("readOnly") is not True:
                    put(own, place, field, needed=needed and own in of_body)
            return True
        if place == "form":
            self._report.reject(name, "the form's fields are not listed")
            return False
        put("body", "whole body", schema, needed=needed)
        return True

    def _result(self, operation: Mapping[str, Any]) -> dict[str, Any] | None:
        for status, response in _mapping(operation.get("responses")).items():
            if not status.startswith("2"):
                continue
            answer = self._resolved(response)
            for kind, media in _mapping(answer.get("content")).items():
                if kind.endswith("json") and isinstance(_mapping(media).get("schema"), Mapping):
                    said = {"description": str(answer.get("description") or "The answer")}
                    return {**said, **media["schema"], "$defs": self._schemas}
        return None

    def _security(self, name: str, operation: Mapping[str, Any]) -> None:
        """Collect the credentials of the first way in that an operation names."""
        ways = _list(operation.get("security", self._document.get("security")))
        schemes = _mapping(_mapping(self._document.get("components")).get("securitySchemes"))
        if len(ways) > 1:
            self._report.note(name, "", "of several ways to sign in the first was taken")
        for scheme in _mapping(ways[0]) if ways else ():
            said = self._resolved(schemes.get(scheme))
            entry = _credential(said, f"{self._service}_{'_'.join(words(scheme))}".upper())
            if entry is None:
                self._report.note(
                    name, "", f"its way to sign in, {scheme!r}, can't be carried over"
                )
            else:
                self.auth[scheme] = entry

    def _is_credential(self, place: str, name: str) -> bool:
        found = [(one["type"], one.get("name", "").lower()) for one in self.auth.values()]
        return (place, name.lower()) in found

    def _resolved(self, value: Any) -> Mapping[str, Any]:
        """Follow local references; an unknown one is an empty object, which is noted."""
        for _ in range(32):
            one = _mapping(value)
            reference = one.get("$ref")
            if not isinstance(reference, str):
                return one
            value = self._at(reference)
        return {}

    def _at(self, reference: str) -> Any:
        value: Any = {**self._document, "$defs": self._schemas}
        if not reference.startswith("#/"):
            self._report.note("", "", f"the reference {reference!r} leads out of the document")
            return {}
        for part in reference[2:].split("/"):
            value = _mapping(value).get(part.replace("~1", "/").replace("~0", "~"))
        if value is None:
            self._report.note("", "", f"the reference {reference!r} leads nowhere")
        return value


def _name_of(method: str, path: str, operation: Mapping[str, Any]) -> str:
    return tool_name(str(operation.get("operationId") or f"{method} {path}")) or "operation"


def _credential(scheme: Mapping[str, Any], variable: str) -> dict[str, str] | None:
    kind = scheme.get("type")
    if kind == "http" and str(scheme.get("scheme")).lower() == "basic":
        return {"type": "basic", "user": f"${variable}_USER", "password": f"${variable}_PASSWORD"}
    if kind in {"oauth2", "openIdConnect"} or (
        kind == "http" and str(scheme.get("scheme")).lower() == "bearer"
    ):
        return {"type": "bearer", "token": f"${variable}"}
    place = str(scheme.get("in"))
    if kind == "apiKey" and place in {"header", "query", "cookie"}:
        return {"type": place, "name": str(scheme.get("name")), "value": f"${variable}"}
    return None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
