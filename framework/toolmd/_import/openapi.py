"""Import OpenAPI documents (3.0 and 3.1): one tool for each operation, and the service's table."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from toolmd._import.functions import add_function, read_result
from toolmd._import.names import brief, distinct, parameter_name, tool_name, words_of
from toolmd._import.openapi_document import (
    as_list,
    as_mapping,
    media_type,
    parse_document,
    references_of,
    server_url,
    target_of,
)
from toolmd._import.report import ImportReport
from toolmd._types.call_spec import Safety
from toolmd._types.imported import Imported
from toolmd._types.remote import METHODS, read_operation
from toolmd._types.schema import Parameter
from toolmd.config.values import Origin, read_setting
from toolmd.errors import ConfigError

_SHOWN_SCOPES = 20
_BY_QUERY = frozenset(("GET", "HEAD", "DELETE"))
_OF_THE_CLIENT = frozenset(("accept", "authorization", "content-type"))
"""The headers that OpenAPI does not let a parameter describe."""
_STYLES = {"form": "commas", "spaceDelimited": "spaces", "pipeDelimited": "pipes"}
"""How OpenAPI calls the ways to write an array or an object as one text."""
_FORM = "application/x-www-form-urlencoded"
_READ = frozenset(("openapi", "info", "paths", "components", "servers", "security"))
_OF_AN_OPERATION = frozenset(
    "operationId summary description tags parameters requestBody responses deprecated security"
    " servers".split()
)
"""The keys of an operation that the draft or a note has."""
_OF_A_PATH = frozenset(("parameters", "servers", "$ref", *map(str.lower, METHODS)))
_BESIDE = frozenset(("parameters", "summary", "description", "servers", "$ref"))
"""The keys of a path that are no operations."""
_OF_A_PARAMETER = frozenset(
    "name in required schema content style explode description deprecated allowEmptyValue"
    " allowReserved".split()
)


class Service(NamedTuple):
    """A service as the settings name it."""

    name: str
    url: str
    entries: tuple[Mapping[str, str], ...] = ()
    """Its credentials."""
    scopes: tuple[str, ...] = ()
    """What its tokens must be allowed, as the document names it."""
    document: str = ""
    """Where the document is, as the settings name it; empty for none."""

    @property
    def section(self) -> str:
        """The setting that its table belongs to."""
        return "services"

    def text(self, prefix: str = "") -> str:
        """Return its table of TOML; `prefix` is `tool.toolmd.` in a pyproject.toml."""
        lines = [f"[{prefix}{self.section}.{self.name}]", f"url = {json.dumps(self.url)}"]
        entries = [
            "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in one.items()) + " }"
            for one in self.entries
        ]
        if entries:
            whole = entries[0] if len(entries) == 1 else f"[{', '.join(entries)}]"
            if scopes := " ".join(self.scopes[:_SHOWN_SCOPES]):
                lines.append(f"# scopes: {json.dumps(scopes)[1:-1]}")
            lines.append(f"auth = {whole}")
        if self.document:
            lines.append(f"document = {json.dumps(self.document)}")
        return "\n".join([*lines, ""])

    def sets(self, place: str, name: str) -> bool:
        """Return whether its table sets this parameter of an operation."""
        return any((one["type"], one.get("name", "").lower()) == (place, name.lower())
                   for one in self.entries)  # fmt: skip


class Operation(NamedTuple):
    """An operation, and where the document has it."""

    name: str
    """The name of its tool."""
    method: str
    path: str
    content: Mapping[str, Any]
    item: Mapping[str, Any]
    """What the operations of its path share."""

    @property
    def own_name(self) -> str:
        """The name that its id, or its method and path, gives the tool."""
        own = str(self.content.get("operationId") or f"{self.method} {self.path}")
        return tool_name(own) or "operation"

    @property
    def function(self) -> str:
        """The function's name of an id `{function}{path}_{method}`, as FastAPI generates it."""
        own = str(self.content.get("operationId") or "")
        tail = re.sub(r"\W", "_", self.path) + "_" + self.method.lower()
        return tool_name(own.removesuffix(tail)) if own.endswith(tail) else ""

    def fits(self, masks: Sequence[str]) -> bool:
        """Return whether its name, path or tag fits one of these patterns; without any it does."""
        own = [self.name, self.own_name, self.path, *map(str, as_list(self.content.get("tags")))]
        return not masks or any(fnmatchcase(one, mask) for one in own for mask in masks)


def read(text: str, name: str) -> Imported:
    """Read a document; see `read_service`."""
    return read_service(text, name)[0]


def read_service(
    text: str, source: str, named: str = "", only: Sequence[str] = ()
) -> tuple[Imported, tuple[Service, ...]]:
    """Read an OpenAPI document, in JSON or YAML.

    Args:
        text: The document.
        source: Its path or URL, which a relative server URL follows.
        named: The name of the service; empty for one from the document's title.
        only: Patterns of the tools, paths and tags to import; empty for all.

    Returns:
        The drafts, and the services that they call: one for each set of credentials.

    Raises:
        UnreadableSourceError: The text is not a document of OpenAPI 3.
    """
    report = ImportReport()
    document = parse_document(text, report)
    title = str(as_mapping(document.get("info")).get("title") or "service")
    name = "_".join(words_of(named or title))[:64].strip("_") or "service"
    report.note("", "", "no category or result policy in OpenAPI: `general`, version 1.0.0")
    reader = _Reader(document, report)
    reader.policy = report.note_unread("", reader.beside())
    found = reader.operations(only)
    services = reader.services(name, source, found)
    for one in found:
        if one.name in services:
            reader.add(one, services[one.name])
    if not report.drafts and not report.rejected:
        report.reject("", f"the document has no {'such ' if only else ''}operation")
    return report.close(), reader.tables if report.drafts else ()


class _Reader:
    """Reads the operations of one document."""

    def __init__(self, document: Mapping[str, Any], report: ImportReport) -> None:
        components = as_mapping(document.get("components"))
        self._schemas = as_mapping(components.get("schemas"))
        self._schemes = as_mapping(components.get("securitySchemes"))
        self._document = {**document, "$defs": self._schemas}
        self._report = report
        self.policy: list[tuple[str, Any]] = []
        """What restricts every operation."""
        self.tables: tuple[Service, ...] = ()
        """The services, the one of most operations first."""

    def beside(self) -> dict[str, Any]:
        """Return what the document says beside its operations, and no draft has."""
        document = self._document
        servers, info = as_list(document.get("servers")), as_mapping(document.get("info"))
        odd = [
            one for one in servers if isinstance(one, dict) and one.keys() - {"url", "variables"}
        ]
        told = {
            **{key: one for key, one in document.items() if key not in {*_READ, "$defs"}},
            "info": {key: one for key, one in info.items() if key not in {"title", "version"}},
            "servers": odd,
            "securitySchemes": [one for one in self._schemes.values()
                                if "description" in as_mapping(one)],
        }  # fmt: skip
        return {key: one for key, one in told.items() if one}

    def operations(self, only: Sequence[str]) -> list[Operation]:
        """Return the operations that are wanted.

        All are named before some are chosen, so that a name does not depend on the choice.
        """
        every = []
        for path, shared in as_mapping(self._document.get("paths")).items():
            item = self._resolve(shared)
            for method, content in item.items():
                if method.upper() in METHODS and isinstance(content, Mapping):
                    one = Operation("", method.upper(), path, content, item)
                    every.append(one._replace(name=one.own_name))
                elif method not in _BESIDE and not method.startswith("x-"):
                    self._report.reject(f"{method} {path}", "no method that a tool can call")
        short = [one.function or one.name for one in every]
        counted = Counter(
            name for one, own in zip(every, short, strict=True) for name in {one.name, own}
        )
        # What FastAPI generates is left out of a name where the rest stays unique.
        kept = [own if counted[own] == 1 else one.name
                for one, own in zip(every, short, strict=True)]  # fmt: skip
        found = []
        for one, own, name in zip(every, kept, distinct(kept), strict=True):
            if not (named := one._replace(name=name)).fits(only):
                continue
            if name != one.name:
                said = one.content.get("operationId") or f"{one.method} {one.path}"
                why = "which was generated" if name == own else "as another one"
                self._report.note(name, "", f"called {said!r} in the document, {why}")
            found.append(named)
        return found

    def services(self, name: str, source: str, found: Sequence[Operation]) -> dict[str, Service]:
        """Choose a way to sign in for each operation; return its service by the operation's name.

        The way that most operations accept is taken. `name` is the service of most of them. An
        operation with a server of its own has a service of its own.
        """
        urls = self._urls(source, found)
        offered = [(one.name, self._ways_of(one.content)) for one in found if one.name in urls]
        used = Counter(way for _, ways in offered for way in ways)
        chosen: dict[str, tuple[str, ...]] = {}
        scopes: dict[tuple[str, ...], dict[str, None]] = {}
        for own, ways in offered:
            sendable = [way for way in ways if self._entries(name, way) is not None]
            way = max(sendable or [()], key=lambda one: (bool(one), used[one]))
            if ways and way not in ways:
                lacking = ", ".join(sorted({scheme for one in ways for scheme in one}))
                self._report.note(own, "", f"its way to sign in, {lacking}, can't be carried over")
            elif len(ways) > 1:
                self._report.note(own, "", f"of several ways to sign in: {' and '.join(way)}")
            chosen[own] = way
            scopes.setdefault(way, {}).update(dict.fromkeys(ways.get(way, ())))
        counted = Counter((urls[own], way) for own, way in chosen.items())
        ordered = [one for one, _ in counted.most_common()]
        main, names = ordered[0][0] if ordered else "", [name]
        for url, way in ordered[1:]:
            host = [] if url == main else words_of(urlsplit(url).hostname or "")
            suffix = "_".join([*host, *words_of(" ".join(way))]) or "public"
            names.append(f"{name[: max(1, 63 - len(suffix))]}_{suffix}"[:64].strip("_"))
        made: dict[tuple[str, tuple[str, ...]], Service] = {}
        for (url, way), own in zip(ordered, distinct(names), strict=False):
            # Another host never gets the variables of this one.
            entries = self._entries(name if url == main else own, way) or ()
            made[url, way] = Service(own, url, entries, tuple(scopes[way]))
        self.tables = tuple(made.values())
        return {own: made[urls[own], way] for own, way in chosen.items()}

    def _urls(self, source: str, found: Sequence[Operation]) -> dict[str, str]:
        """Return the server of each operation by its name; reject one whose own can't be called."""
        servers = as_list(self._document.get("servers"))
        common, fits = server_url(servers, source)
        if not fits:
            said = f"the server is {common!r}: write the url of the service in the settings"
            self._report.note("", "", said)
            common = "http://localhost"
        elif len(servers) > 1:
            said = f"the document names {len(servers)} servers: the first is used as `url`"
            self._report.note("", "", said)
        urls = {}
        for one in found:
            own = as_list(one.content.get("servers")) or as_list(one.item.get("servers"))
            url, fits = server_url(own, source) if own else (common, True)
            if not fits:
                why = f"its own server is {url!r}, which has no address without the document's"
                self._report.reject(one.name, why)
                continue
            if len(own) > 1:
                self._report.note(one.name, "", f"of its {len(own)} own servers {url} is used")
            urls[one.name] = url
        return urls

    def _ways_of(self, operation: Mapping[str, Any]) -> dict[tuple[str, ...], list[str]]:
        """Return the scopes of each way that an operation accepts, a set of schemes."""
        listed = as_list(operation.get("security", self._document.get("security")))
        return {
            tuple(sorted(one)): [str(scope) for scopes in one.values() for scope in as_list(scopes)]
            for one in listed if isinstance(one, Mapping)
        }  # fmt: skip

    def _entries(self, name: str, way: tuple[str, ...]) -> tuple[Mapping[str, str], ...] | None:
        """Return the credentials of a way; None where a table can't hold them."""
        found = []
        for scheme in way:
            variable = f"{name}_{'_'.join(words_of(scheme))}".upper()
            found.append(_credential(self._resolve(self._schemes.get(scheme)), variable))
        whole = tuple(one for one in found if one is not None)
        at = {(one["type"], one["name"].lower()) if "name" in one else ("header", "authorization")
              for one in whole}  # fmt: skip
        table = {"url": "http://localhost", "auth": [*whole]}
        try:
            read_setting("services", {"one": table}, Origin("", "services"))
        except ConfigError:
            return None
        return whole if len(at) == len(found) else None

    def add(self, one: Operation, service: Service) -> None:
        """Add the draft of an operation, or the reason why there is none."""
        name, method, operation = one.name, one.method, one.content
        where = f"http {method} {service.name}:{one.path}"
        if read_operation(where) is None:
            why = f"{method} {one.path} can't be called: its path is not one"
            self._report.reject(name, why)
            return
        if operation.get("deprecated") is True:
            self._report.note(name, "", "the document calls it deprecated")
        others = [
            f"{status} {self._resolve(answer).get('description', '')}".strip()
            for status, answer in as_mapping(operation.get("responses")).items()
        ]
        left = {key: operation[key] for key in operation if key not in _OF_AN_OPERATION}
        left |= {f"path's {key}": one for key, one in one.item.items() if key not in _OF_A_PATH}
        scopes = [
            way for way in as_list(operation.get("security")) if any(as_mapping(way).values())
        ]
        left |= {key: said for key, said in (("responses", others), ("security", scopes)) if said}
        policy = [*self.policy, *self._report.note_unread(name, left)]
        arguments = _Arguments(one, self._report)
        if not (self._listed(one, service, arguments) and self._body(one, arguments)):
            return
        texts = [str(operation.get(key) or "").strip() for key in ("summary", "description")]
        entry = {
            "name": name,
            "description": "\n\n".join(filter(None, texts)),
            "parameters": {**arguments.schema, "$defs": self._schemas_of(arguments.fields)},
        }
        known: dict[str, Any] = {
            "implemented_by": where,
            "tags": tuple(map(str, as_list(operation.get("tags")))),
            "read_only": method in {"GET", "HEAD"},
            "idempotent": "yes" if method in {"PUT", "DELETE"} else "no",
        }
        if method == "DELETE":
            self._report.note(name, "", "DELETE: Requires Confirmation was proposed")
            known["safety"] = Safety(requires_confirmation=True)
        if (result := self._result(operation)) is not None:
            known["returns"] = read_result(result, name, self._report, wrapped=False)
        add_function(entry, self._report, policy=policy, change=arguments.place_of, **known)

    def _listed(self, one: Operation, service: Service, arguments: "_Arguments") -> bool:
        """Add the listed parameters; return whether each can be sent."""
        name = one.name
        every = (*as_list(one.item.get("parameters")), *as_list(one.content.get("parameters")))
        listed = {(str(own.get("in")), str(own.get("name"))): own
                  for own in map(self._resolve, every)}  # fmt: skip
        for (place, own), parameter in listed.items():
            for key, said in parameter.items():
                if key not in _OF_A_PARAMETER:
                    self._report.note(name, own, f"`{key}` is not kept: {brief(said)}")
            if place not in {"path", "query", "header", "cookie"}:
                self._report.reject(name, f"`{own}` is sent in {place!r}, which is unknown")
                return False
            is_clients = place == "header" and own.lower() in _OF_THE_CLIENT
            if is_clients or service.sets(place, own):
                self._report.note(name, own, "left out: the client and the service's table set it")
                continue
            needed = place == "path" or parameter.get("required") is True
            style = self._style(name, parameter)
            if style is None:
                return False
            holder = parameter["content"]["application/json"] if style == "json" else parameter
            schema = dict(as_mapping(as_mapping(holder).get("schema")))
            if style == "fields":
                self._apart(name, own, place, schema, arguments, needed=needed)
                continue
            if parameter.get("description"):
                schema.setdefault("description", parameter["description"])
            arguments.put(own, place, schema, needed=needed, style=style)
        return True

    def _apart(
        self, name: str, own: str, place: str, schema: Any, arguments: "_Arguments", *, needed: bool
    ) -> None:
        """Add each field of an object as an argument of its own."""
        inner = self._resolve(schema)
        self._note_whole(name, own, inner)
        for field, said in as_mapping(inner.get("properties")).items():
            within = needed and field in as_list(inner.get("required"))
            arguments.put(field, place, said, needed=within)

    def _style(self, name: str, parameter: Mapping[str, Any]) -> str | None:
        """Return how a parameter is written, `fields` for one that is each of its fields.

        None where it can't be sent, with the reason in the report.
        """
        place, own = parameter["in"], parameter["name"]
        if "content" in parameter:
            if place == "query" and "application/json" in as_mapping(parameter["content"]):
                return "json"
            self._report.reject(name, f"`{own}` is sent as {', '.join(parameter['content'])}")
            return None
        usual = "form" if place in {"query", "cookie"} else "simple"
        style = parameter.get("style", usual)
        schema = self._resolve(parameter.get("schema"))
        types = schema.get("type")
        is_array = "items" in schema or types == "array"
        is_object = "properties" in schema or types == "object"
        if style == "deepObject" and place == "query":
            return "brackets"
        items = self._resolve(schema.get("items"))
        if is_array and ("properties" in items or items.get("type") == "object"):
            self._report.reject(name, f"`{own}` is an array of objects, which {style!r} can't hold")
            return None
        if style == usual and not (is_array or is_object):
            return ""
        if place == "query" and not parameter.get("explode", style == "form") and style in _STYLES:
            return _STYLES[style]
        if (place, style) == ("query", "form") and (is_array or "properties" in schema):
            return "" if is_array else "fields"
        if style == "simple" and is_array:
            return ""
        self._report.reject(name, f"`{own}` is written in the style {style!r}, which can't be sent")
        return None

    def _body(self, one: Operation, arguments: "_Arguments") -> bool:
        """Add the arguments of the body; return whether it can be sent."""
        name, body = one.name, self._resolve(one.content.get("requestBody"))
        content = as_mapping(body.get("content"))
        if not content:
            return True
        needed = body.get("required") is True
        kinds = {one: media_type(one) for one in content}
        order = ["application/json", *(k for k in kinds.values() if k.endswith("+json")), _FORM]
        fitting = [k for own in order for k, bare in kinds.items() if bare == own]
        kind = fitting[0] if fitting else None
        if kind is None:
            what = f"the body is {', '.join(content)}; JSON and forms can be sent"
            if needed:
                self._report.reject(name, what)
                return False
            self._report.note(name, "", f"{what}: left out")
            return True
        if len(content) > 1:
            self._report.note(name, "", f"of the body's kinds {kind} is sent")
        schema = as_mapping(as_mapping(content[kind]).get("schema"))
        inner = self._resolve(schema)
        if kinds[kind] == _FORM:
            return self._form(name, inner, as_mapping(content[kind]), arguments, needed=needed)
        style = "" if kinds[kind] == "application/json" else "".join(kind.split()).lower()
        plain = "properties" in inner and not {"allOf", "oneOf", "anyOf"} & set(inner)
        if plain and inner.get("additionalProperties", False) in (False, True):
            self._note_whole(name, "", inner)
            for own, field in inner["properties"].items():
                if as_mapping(field).get("readOnly") is not True:
                    within = needed and own in as_list(inner.get("required"))
                    arguments.put(own, "body", field, needed=within, style=style)
            return True
        arguments.put("body", "whole body", schema, needed=needed, style=style)
        return True

    def _form(
        self, name: str, inner: Mapping[str, Any], media: Mapping[str, Any],
        arguments: "_Arguments", *, needed: bool,
    ) -> bool:  # fmt: skip
        """Add the fields of a form as its encodings have them; return whether each can be sent."""
        if "properties" not in inner or {"allOf", "oneOf", "anyOf"} & set(inner):
            self._report.reject(name, "the form's fields are not listed")
            return False
        self._note_whole(name, "", inner)
        for own, field in inner["properties"].items():
            if as_mapping(field).get("readOnly") is True:
                continue
            within = needed and own in as_list(inner.get("required"))
            encoding = as_mapping(as_mapping(media.get("encoding")).get(own))
            told = {key: encoding[key] for key in ("style", "explode") if key in encoding}
            style = self._style(name, {"in": "query", "name": own, "schema": field, **told})
            if "style" not in told and media_type(encoding.get("contentType")).endswith("json"):
                style = "json"
            if style is None:
                return False
            if style == "fields":
                self._apart(name, own, "form", field, arguments, needed=within)
            else:
                arguments.put(own, "form", field, needed=within, style=style)
        return True

    def _note_whole(self, name: str, own: str, schema: Mapping[str, Any]) -> None:
        """Note what a schema says of an object whose fields are arguments of their own."""
        for key, one in schema.items():
            if key not in {"type", "properties", "required", "additionalProperties"}:
                self._report.note(name, own, f"`{key}` is not kept: {brief(one)}")
            elif key == "additionalProperties" and isinstance(one, Mapping):
                self._report.note(name, own, f"other fields are not kept: {brief(one)}")

    def _result(self, operation: Mapping[str, Any]) -> dict[str, Any] | None:
        for status, response in as_mapping(operation.get("responses")).items():
            if not status.startswith("2"):
                continue
            answer = self._resolve(response)
            for kind, media in as_mapping(answer.get("content")).items():
                if media_type(kind).endswith("json") and isinstance(
                    as_mapping(media).get("schema"), Mapping
                ):
                    said = {"description": str(answer.get("description") or "The answer")}
                    return {**said, **media["schema"], "$defs": self._schemas_of(media["schema"])}
        return None

    def _schemas_of(self, value: Any) -> dict[str, Any]:
        """Return the document's schemas that a schema refers to, directly or not."""
        names = [reference.removeprefix("#/$defs/").partition("/")[0]
                 for reference in references_of(self._document, value)]  # fmt: skip
        names = [name.replace("~1", "/").replace("~0", "~") for name in names]
        return {name: self._schemas[name] for name in names if name in self._schemas}

    def _resolve(self, value: Any) -> Mapping[str, Any]:
        """Follow local references; an unknown one is an empty object, which is noted."""
        for _ in range(32):
            one = as_mapping(value)
            if not isinstance(reference := one.get("$ref"), str):
                return one
            if (value := target_of(self._document, reference)) is None:
                where = "nowhere" if reference.startswith("#/") else "out of the document"
                self._report.note("", "", f"the reference {reference!r} leads {where}")
        return {}


class _Arguments:
    """The arguments of one operation, and where each is sent."""

    def __init__(self, one: Operation, report: ImportReport) -> None:
        self._name = one.name
        self._usual = "query" if one.method in _BY_QUERY else "body"
        self._report = report
        self.fields: dict[str, Any] = {}
        self._required: list[str] = []
        self._places: dict[str, str | None] = {}

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of all arguments."""
        return {"type": "object", "properties": self.fields, "required": self._required,
                "additionalProperties": False}  # fmt: skip

    def put(self, own: str, place: str, schema: Any, *, needed: bool, style: str = "") -> None:
        """Add an argument, under a name that no other one has."""
        name = parameter_name(own) or "value"
        while name in self.fields:
            name = f"{place.partition(' ')[0]}_{name}"
        said = [place, own if name != own and place != "whole body" else "",
                f"as {style}" if style else ""]  # fmt: skip
        by_itself = name == own and not style and place in {"path", self._usual}
        self._places[name] = None if by_itself else " ".join(filter(None, said))
        if name != own:
            self._report.note(self._name, name, f"called {own!r} in the document")
        self.fields[name] = as_mapping(schema)
        if needed:
            self._required.append(name)

    def place_of(self, one: Parameter) -> Parameter:
        """Return a parameter with the place where it is sent."""
        return replace(one, shape=replace(one.shape, sent_in=self._places.get(one.name)))


def _credential(scheme: Mapping[str, Any], variable: str) -> dict[str, str] | None:
    kind, way = scheme.get("type"), str(scheme.get("scheme")).lower()
    if (kind, way) == ("http", "basic"):
        return {"type": "basic", "user": f"${variable}_USER", "password": f"${variable}_PASSWORD"}
    if kind in {"oauth2", "openIdConnect"} or (kind, way) == ("http", "bearer"):
        return {"type": "bearer", "token": f"${variable}"}
    place = str(scheme.get("in"))
    if kind == "apiKey" and place in {"header", "query", "cookie"}:
        return {"type": place, "name": str(scheme.get("name")), "value": f"${variable}"}
    return None
