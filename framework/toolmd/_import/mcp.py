"""Import tools of the Model Context Protocol: the result of `tools/list`."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import yaml
from pydantic import ValidationError

from toolmd._import.functions import (
    UnreadableSourceError,
    add_function,
    is_function,
    read_json,
    read_result,
)
from toolmd._import.names import brief, tool_name
from toolmd._import.policy import Policy, policy_of, restricting
from toolmd._import.report import ImportReport
from toolmd._parse.document.front_matter import read_front_matter
from toolmd._parse.outline import source_lines
from toolmd._parse.page import Page
from toolmd._types.call_spec import Limits, Rule, Safety
from toolmd._types.diagnostic import Severity
from toolmd._types.imported import Imported
from toolmd._types.remote import read_remote_tool
from toolmd._types.schema import Parameter, Schema
from toolmd._types.tool import Noun

_POLICY = "toolmd/policy"
_WRAPPED = "toolmd/wrapped"
_READ = frozenset({"annotations", "outputSchema", "_meta"})
_AROUND = frozenset({"jsonrpc", "id", "result", "tools", "nextCursor"})
_KEPT_HINTS = frozenset({"title", "readOnlyHint", "idempotentHint"})


def read(text: str, name: str) -> Imported:
    """Read a document of tools: the result, the whole response, the list alone, or front matter."""
    document = read_json(text) if not text.lstrip().startswith("---") else _front_matter(text, name)
    listed = _tools(document)
    if listed is None:
        report = ImportReport()
        report.reject("", "no tool in it: expected the result of `tools/list`, with `tools`")
        return report.close()
    return read_tools(listed, around=document)


def _front_matter(text: str, name: str) -> dict[str, Any]:
    """Return the tool of a markdown file with `inputSchema` in its front matter."""
    page = Page(name, source_lines(text))
    read_front_matter(page)
    for one in page.diagnostics:
        if one.severity is Severity.ERROR:
            raise UnreadableSourceError(f"line {one.span.line}: {one.message}")
    block = "\n".join(page.hidden).strip().strip("-")
    try:
        tool = json.loads(json.dumps(yaml.safe_load(block), default=str))  # with dates as texts
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise UnreadableSourceError(f"the front matter can't be read: {error}") from None
    if not isinstance(tool, dict):
        return {}
    body = "\n".join(page.lines).strip()
    about = "\n\n".join(str(one) for one in (tool.get("description"), body) if one)
    return {**tool, "description": about}


def read_tools(listed: Iterable[Any], server: str = "", around: Any = None) -> Imported:
    """Read listed tools, and note what is around them; with a server's name, the drafts call it."""
    report = ImportReport()
    entries = list(listed)
    names = [tool_name(entry["name"]) for entry in entries if is_function(entry)]
    inner = around.get("result") if isinstance(around, Mapping) else None
    parts = [one for one in (around, inner) if isinstance(one, Mapping) and not is_function(one)]
    about = {key: part[key] for part in parts for key in part if key not in _AROUND}
    policy, unread = policy_of(about, names)
    report.note_unread("", unread)
    for entry in entries:
        if not is_function(entry):
            report.reject(str(entry)[:40], "no tool: it has no name, or no inputSchema")
            continue
        known = _known(entry, report, _KEPT_HINTS | ({"destructiveHint"} if server else set()))
        if server:
            remote = read_remote_tool(f"mcp {server} {entry['name']}")
            if remote is None or remote.tool != entry["name"]:
                report.reject(entry["name"], "Implemented By can't hold this name")
                continue
            known = {"implemented_by": str(remote), **_cautious(entry, report), **known}
        own = [*policy[tool_name(entry["name"])], *_unread_policy(entry)]
        add_function(entry, report, also=_READ, policy=own, change=_flag(entry), **known)
    return report.close()


def _unread_policy(entry: Mapping[str, Any]) -> list[Policy]:
    """Return what restricts below `annotations` and `_meta`, beside an export's own policy."""
    meta = entry.get("_meta")
    meta = meta if isinstance(meta, Mapping) else {}
    others = {key: meta[key] for key in meta if key != _POLICY}
    own = meta[_POLICY] if isinstance(meta.get(_POLICY), Mapping) else {}
    kept = {"approvals": own.get("approvals")}  # No field holds them.
    return [*restricting(entry.get("annotations")), *restricting(others), *restricting(kept)]


def _cautious(entry: Mapping[str, Any], report: ImportReport) -> dict[str, Any]:
    """Propose a confirmation for what the server's hints do not call harmless."""
    name, hints = tool_name(entry["name"]), entry.get("annotations")
    if not isinstance(hints, Mapping) or not hints:
        report.note(name, "", "the server has no hints: does it need Requires Confirmation?")
        return {}
    if hints.get("readOnlyHint") is True or hints.get("destructiveHint") is False:
        return {}
    report.note(name, "", "it may be destructive: Requires Confirmation was proposed")
    return {"safety": Safety(requires_confirmation=True)}


def _tools(value: Any) -> list[Any] | None:
    if isinstance(value, Mapping):
        inner = value.get("tools", value.get("result"))
        if inner is None:
            return [value] if is_function(value) else None
        return _tools(inner)
    return value if isinstance(value, list) else None


def _known(entry: Mapping[str, Any], report: ImportReport, kept: frozenset[str]) -> dict[str, Any]:
    """Return the protocol's fields of a tool besides its name and arguments."""
    name = tool_name(entry["name"])
    known: dict[str, Any] = {}
    hints = entry.get("annotations")
    hints = hints if isinstance(hints, Mapping) else {}
    if hints.get("readOnlyHint") is True:
        known["read_only"] = True
        report.note(name, "", "Read Only is the server's own hint: retries rely on it")
    elif hints.get("idempotentHint") is True:
        known["idempotent"] = "yes"
        report.note(name, "", "Idempotent is the server's own hint: retries rely on it")
    for hint in hints.keys() - kept:
        report.note(name, "", f"the server's hint `{hint}` has no field: {brief(hints[hint])}")
    if isinstance(hints.get("title"), str):
        if not entry.get("title"):
            known["title"] = " ".join(hints["title"].split())
        elif hints["title"] != entry["title"]:
            report.note(name, "", f"the hint `title` is not kept: {brief(hints['title'])}")
    meta = entry.get("_meta") or {}
    if not isinstance(meta, Mapping):
        report.note(name, "", f"`_meta` is not kept: {brief(meta)}")
        meta = {}
    for key in meta:
        if key not in {_POLICY, _WRAPPED, "toolmd/version"}:
            report.note(name, "", f"`_meta` is not kept: {key}: {brief(meta[key])}")
    if isinstance(meta.get("toolmd/version"), str):
        known["version"] = meta["toolmd/version"]
    if (output := entry.get("outputSchema")) is not None:
        known["returns"] = read_result(output, name, report, wrapped=meta.get(_WRAPPED) is True)
    if isinstance(meta.get(_POLICY), Mapping):
        known |= _policy(meta[_POLICY], name, report)
    return known


class _Policy(Noun):
    safety: Safety = Safety()
    limits: Limits = Limits()
    rules: tuple[Rule, ...] = ()


def _policy(policy: Mapping[str, Any], name: str, report: ImportReport) -> dict[str, Any]:
    """Return the policy that an export of Toolmd wrote under `_meta`; note an unreadable one."""
    try:
        read = _Policy(**{key: policy[key] for key in _Policy.model_fields if key in policy})
    except ValidationError as error:
        report.note(name, "", f"the policy under `_meta` can't be read and is not kept: {error}")
        return {}
    known: dict[str, Any] = {"safety": read.safety, "limits": read.limits}
    if read.rules:
        known["rules"] = read.rules
    if policy.get("requires_auth") is True:
        known["requires_auth"] = True
    if facts := policy.get("requires_context"):
        known["requires_context"] = tuple(map(str, facts if isinstance(facts, list) else [facts]))
    if roles := policy.get("allowed_roles"):
        known["allowed_roles"] = tuple(map(str, roles if isinstance(roles, list) else [roles]))
        known["requires_auth"] = True
    if policy.get("idempotent") == "keyed":
        known["idempotent"] = "keyed"
    return known


def _flag(entry: Mapping[str, Any]) -> Callable[[Parameter], Parameter]:
    """Return what marks a parameter Sensitive and Verbatim, as an export's policy has it."""
    meta = entry.get("_meta")
    policy = meta.get(_POLICY) if isinstance(meta, Mapping) else None
    listed = {flag: policy.get(flag) if isinstance(policy, Mapping) else None
              for flag in ("sensitive", "verbatim")}  # fmt: skip
    paths = {flag: one if isinstance(one, list) else [] for flag, one in listed.items()}

    def marked(one: Parameter, prefix: str = "") -> Parameter:
        return replace(one, shape=shape(one.shape, f"{prefix}{one.name}"))

    def shape(one: Schema, path: str) -> Schema:
        update: dict[str, Any] = {flag: True for flag, all_ in paths.items() if path in all_}
        if one.items is not None:
            update["items"] = shape(one.items, f"{path}[]")
        if one.values is not None:
            update["values"] = shape(one.values, f"{path}.*")
        if one.properties is not None:
            update["properties"] = tuple(marked(below, f"{path}.") for below in one.properties)
        if one.one_of is not None:
            # Its shapes have the path of the whole.
            update["one_of"] = tuple(
                replace(each, shape=replace(each.shape, properties=tuple(
                    marked(below, f"{path}.") for below in each.shape.properties or ())))
                for each in one.one_of
            )  # fmt: skip
        return replace(one, **update)

    return marked
