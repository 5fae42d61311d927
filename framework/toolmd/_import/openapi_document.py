"""Parse documents of OpenAPI 3: their values, their references, and their servers."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

import yaml

from toolmd._import.functions import UnreadableSourceError
from toolmd._import.report import ImportReport
from toolmd._types.remote import METHODS

MAX_BYTES = 32 << 20
_MOST = 2_000_000
"""The most values of a document."""
_PLAIN = frozenset(("int32", "int64", "float", "double"))
"""The formats of numbers, which any number of JSON fits."""
_SCHEMAS = "#/components/schemas/"
"""Where a document has its schemas."""


def definitions_of(text: str) -> Mapping[str, str]:
    """Return each operation of a document by `METHOD /path`, with all that it refers to.

    The operations are canonical JSON of what the document says, whatever an import makes of it.
    Raises UnreadableSourceError.
    """
    document = as_mapping(_parse(text))
    found: dict[str, str] = {}
    for path, item in as_mapping(document.get("paths")).items():
        for method, operation in as_mapping(item).items():
            if str(method).upper() in METHODS:
                shared = {key: item[key] for key in ("parameters", "servers") if key in item}
                meant = {"operation": operation, "path": shared,
                         "security": document.get("security")}  # fmt: skip
                meant["references"] = references_of(document, meant)
                text = json.dumps(meant, sort_keys=True, ensure_ascii=False, default=str)
                found[f"{str(method).upper()} {path}"] = text
    return found


class _Loader(yaml.SafeLoader):
    """Reads YAML without dates, and keys as text: a status is `200`."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - as the class above has it
        sign: [one for one in kinds if one[0] != "tag:yaml.org,2002:timestamp"]
        for sign, kinds in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def _parse(text: str) -> Any:
    if len(text) > MAX_BYTES:
        raise UnreadableSourceError(f"over {MAX_BYTES >> 20} MiB: pass only the operations")
    try:
        # JSON is YAML, but for the rare tab.
        if text.lstrip("\ufeff \n\r\t").startswith("{"):
            return json.loads(text)
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe one
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise UnreadableSourceError(f"neither JSON nor YAML: {error}") from None


def parse_document(text: str, report: ImportReport) -> dict[str, Any]:
    document = _parse(text)
    version = document.get("openapi") if isinstance(document, dict) else None
    if not isinstance(version, str) or not version.startswith("3."):
        raise UnreadableSourceError("no document of OpenAPI 3: its first key is `openapi: 3.…`")
    dropped = Counter[str]()
    try:
        made: dict[str, Any] = _modern(document, [_MOST], dropped)
    except RecursionError:
        raise UnreadableSourceError("the document nests too deep") from None
    for what, times in dropped.items():
        report.note("", "", f"not kept, {times} times: {what}")
    return made


def _modern(value: Any, left: list[int], dropped: Counter[str]) -> Any:
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
        made["$ref"] = reference.replace(_SCHEMAS, "#/$defs/", 1)
    if isinstance(kind := made.get("type"), str | list):
        # The shape of XML, and the size of a number in memory, say nothing about JSON.
        if isinstance(made.get("xml"), dict):
            del made["xml"]
            dropped["`xml`"] += 1
        said = made.get("format")
        if isinstance(said, str) and said in _PLAIN and kind != "string":
            del made["format"]
            dropped[f"`format` {said}"] += 1
    for strict, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if made.get(strict) is True and bound in made:
            made[strict] = made.pop(bound)
        elif made.get(strict) is False:
            del made[strict]
    return made


def server_url(servers: list[Any], source: str) -> tuple[str, bool]:
    """Return the URL of the first server, and whether a table can have it."""
    first = as_mapping(servers[0]) if servers else {}
    url = str(first.get("url") or "/")
    for name, one in as_mapping(first.get("variables")).items():
        if isinstance(one, Mapping):
            url = url.replace("{" + name + "}", str(one.get("default", "")))
    if source.startswith(("http://", "https://")):
        url = urljoin(source, url)
    parts = urlsplit(url)
    is_url = parts.scheme in {"http", "https"} and bool(parts.hostname)
    return url.rstrip("/"), is_url and not set(url) & set("?#{}@")


def target_of(document: Mapping[str, Any], reference: str) -> Any:
    """Return what a reference leads to within a document; None for nothing."""
    value: Any = document if reference.startswith("#/") else None
    for part in reference[2:].split("/"):
        value = as_mapping(value).get(part.replace("~1", "/").replace("~0", "~"))
    return value


def references_of(document: Mapping[str, Any], value: Any) -> dict[str, Any]:
    """Return what a value refers to within a document, directly or not, by reference."""
    found: dict[str, Any] = {}
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, list):
            left += one
        elif isinstance(one, dict):
            left += one.values()
            reference = one.get("$ref")
            if isinstance(reference, str) and reference not in found:
                found[reference] = target_of(document, reference)
                left.append(found[reference])
    return found


def media_type(text: Any) -> str:
    """Return a media type without its parameters, in lower case."""
    return str(text).partition(";")[0].strip().lower()


def as_mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
