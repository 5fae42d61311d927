"""Import OpenAPI documents (3.0 and 3.1): one tool for each operation, and the service's table."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

import yaml

from toolmd._import.functions import UnreadableSourceError
from toolmd._import.names import words_of
from toolmd._import.operations import SCHEMAS, Auth, Operations, referred
from toolmd._import.report import ImportReport
from toolmd._types.imported import Imported
from toolmd._types.operation import METHODS

MAX_BYTES = 32 << 20
_MOST = 2_000_000
"""The most values of a document."""
_SHOWN_SCOPES = 20
_PLAIN = frozenset(("int32", "int64", "float", "double"))
"""The formats of numbers, which any number of JSON fits."""


class Service(NamedTuple):
    """A service as the settings name it."""

    name: str
    url: str
    auth: Auth
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
            for one in self.auth.entries
        ]
        if entries:
            whole = entries[0] if len(entries) == 1 else f"[{', '.join(entries)}]"
            if scopes := " ".join(self.auth.scopes[:_SHOWN_SCOPES]):
                lines.append(f"# scopes: {json.dumps(scopes)[1:-1]}")
            lines.append(f"auth = {whole}")
        if self.document:
            lines.append(f"document = {json.dumps(self.document)}")
        return "\n".join([*lines, ""])


def read(text: str, name: str) -> Imported:
    """Read a document; see `read_service`."""
    return read_service(text, name)[0]


_READ = frozenset(("openapi", "info", "paths", "components", "servers", "security"))


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
    document = _document(text, report)
    title = str((document.get("info") or {}).get("title") or "service")
    name = "_".join(words_of(named or title))[:64].strip("_") or "service"
    report.note("", "", "no category or result policy in OpenAPI: `general`, version 1.0.0")
    about = {key: value for key, value in document.items() if key not in _READ}
    about |= _beside(document)
    policy = report.note_unread("", about)
    services = Operations(document, report, only, policy).read(name)
    url = _url(document, source, report)
    if not report.drafts and not report.rejected:
        report.reject("", f"the document has no {'such ' if only else ''}operation")
    made = [Service(name, url, auth) for name, auth in services.items()]
    return report.close(), tuple(made if report.drafts else ())


def _beside(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a document says of itself, of its servers and of the ways to sign in."""
    info, components = document.get("info"), document.get("components")
    info = info if isinstance(info, dict) else {}
    schemes = components.get("securitySchemes") if isinstance(components, dict) else None
    servers, ways = document.get("servers"), schemes if isinstance(schemes, dict) else {}
    told = {
        "info": {key: one for key, one in info.items() if key not in {"title", "version"}},
        "servers": [one for one in servers if one.keys() - {"url", "variables"}]
        if isinstance(servers, list) and all(isinstance(one, dict) for one in servers)
        else None,
        "securitySchemes": [one for one in ways.values() if "description" in (one or ())],
    }
    return {key: one for key, one in told.items() if one}


def definitions_of(text: str) -> Mapping[str, str]:
    """Return each operation of a document by `METHOD /path`, with all that it refers to.

    The operations are canonical JSON of what the document says, whatever an import makes of it.
    Raises UnreadableSourceError.
    """
    document = _parsed(text)
    found: dict[str, str] = {}
    paths = document.get("paths") if isinstance(document, dict) else None
    for path, item in (paths if isinstance(paths, dict) else {}).items():
        for method, operation in (item if isinstance(item, dict) else {}).items():
            if str(method).upper() in METHODS:
                shared = {key: item[key] for key in ("parameters", "servers") if key in item}
                meant = {"operation": operation, "path": shared,
                         "security": document.get("security")}  # fmt: skip
                meant["references"] = referred(document, meant)
                text = json.dumps(meant, sort_keys=True, ensure_ascii=False, default=str)
                found[f"{str(method).upper()} {path}"] = text
    return found


def _document(text: str, report: ImportReport) -> dict[str, Any]:
    try:
        return _checked(_parsed(text), report)
    except RecursionError:
        raise UnreadableSourceError("the document nests too deep") from None


def _parsed(text: str) -> Any:
    if len(text) > MAX_BYTES:
        raise UnreadableSourceError(f"over {MAX_BYTES >> 20} MiB: pass only the operations")
    try:
        # JSON is YAML, but for the rare tab.
        document = json.loads(text) if text.lstrip("\ufeff \n\r\t").startswith("{") else None
        if document is None:
            document = yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe one
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise UnreadableSourceError(f"neither JSON nor YAML: {error}") from None
    return document


def _checked(document: Any, report: ImportReport) -> dict[str, Any]:
    version = document.get("openapi") if isinstance(document, dict) else None
    if not isinstance(version, str) or not version.startswith("3."):
        raise UnreadableSourceError("no document of OpenAPI 3: its first key is `openapi: 3.…`")
    dropped: dict[str, int] = {}
    made: dict[str, Any] = _modern(document, [_MOST], dropped)
    for what, times in dropped.items():
        report.note("", "", f"not kept, {times} times: {what}")
    return made


class _Loader(yaml.SafeLoader):
    """Reads YAML without dates, and keys as text: a status is `200`."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - as the class above has it
        sign: [one for one in kinds if one[0] != "tag:yaml.org,2002:timestamp"]
        for sign, kinds in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def _modern(value: Any, left: list[int], dropped: dict[str, int]) -> Any:
    """Return a document with text keys, and with the bounds of 3.0 as JSON Schema has them."""
    left[0] -= 1
    if left[0] < 0:
        # Anchors of YAML may repeat a part without end.
        raise UnreadableSourceError(f"the document has more than {_MOST:,} values")
    if isinstance(value, list):
        return [_modern(one, left, dropped) for one in value]
    if not isinstance(value, dict):
        return value
    made = {str(key): _modern(one, left, dropped) for key, one in value.items()}
    if isinstance(reference := made.get("$ref"), str):
        # Each tool's schema has the document's schemas where JSON Schema has them.
        made["$ref"] = reference.replace(SCHEMAS, "#/$defs/", 1)
    if isinstance(made.get("type"), str | list):
        _drop(made, dropped)
    for strict, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if made.get(strict) is True and bound in made:
            made[strict] = made.pop(bound)
        elif made.get(strict) is False:
            del made[strict]
    return made


def _drop(schema: dict[str, Any], dropped: dict[str, int]) -> None:
    """Remove what says nothing about JSON: the shape of XML, and the size of a number in memory."""
    said = schema.get("format")
    if isinstance(schema.get("xml"), dict):
        del schema["xml"]
        dropped["`xml`"] = dropped.get("`xml`", 0) + 1
    if isinstance(said, str) and said in _PLAIN and schema["type"] != "string":
        del schema["format"]
        dropped[f"`format` {said}"] = dropped.get(f"`format` {said}", 0) + 1


def _url(document: Mapping[str, Any], source: str, report: ImportReport) -> str:
    servers = document.get("servers")
    first = servers[0] if isinstance(servers, list) and servers else {}
    url = str(first.get("url") or "/") if isinstance(first, Mapping) else "/"
    variables = first.get("variables") if isinstance(first, Mapping) else None
    for name, one in (variables or {}).items():
        if isinstance(one, Mapping):
            url = url.replace("{" + name + "}", str(one.get("default", "")))
    if source.startswith(("http://", "https://")):
        url = urljoin(source, url)
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or set(url) & set("?#{}@"):
        report.note("", "", f"the server is {url!r}: write the url of the service in the settings")
        return "http://localhost"
    if isinstance(servers, list) and len(servers) > 1:
        report.note(
            "", "", f"the document names {len(servers)} servers: the first is used as `url`"
        )
    return url.rstrip("/")
