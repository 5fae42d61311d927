"""The checks of the conformance suite that do not apply to Toolmd, each with its reason."""

from fnmatch import fnmatchcase

REASONS: dict[str, tuple[str, ...]] = {
    "the server has no prompts: a skill is read as a resource": (
        "prompts-*:*",
        "caching:sep-2549-prompts-*",
        "input-required-result-non-tool-request:sep-2322-non-tool-incomplete",
    ),
    "the resources are the skills' files, which `sep-2640-*` and the Inspector read instead": (
        "resources-read-text:resources-read-text",
        "resources-read-binary:resources-read-binary",
        "resources-templates-read:resources-templates-read",
    ),
    "no single resource can be subscribed to: a new snapshot is announced as a changed list": (
        "resources-subscribe:resources-subscribe",
        "resources-unsubscribe:resources-unsubscribe",
    ),
    "no tool asks the client for its model or its folders": (
        "tools-call-sampling:tools-call-sampling",
        "input-required-result-basic-sampling:sep-2322-sampling-incomplete",
        "input-required-result-basic-list-roots:sep-2322-list-roots-incomplete",
        "input-required-result-multiple-input-requests:sep-2322-multiple-inputs-incomplete",
        "input-required-result-capability-check:sep-2322-respect-client-capabilities",
    ),
    "the log is the operator's, not the client's": (
        "logging-set-level:logging-set-level",
        "tools-call-with-logging:tools-call-with-logging",
    ),
    "an Enum has no titles for its values": (
        "elicitation-sep1330-enums:elicitation-sep1330-titled-*",
        "elicitation-sep1330-enums:elicitation-sep1330-legacy-enumnames",
    ),
    "no call needs a form: where a client has none, the model reads `confirmation_required` and "
    "the call waits for its operator": (
        "server-stateless:sep-2575-server-rejects-undeclared-capability",
        "server-stateless:sep-2575-missing-capability-http-400",
    ),
    "an answer counts only with the sealed state of its question; without it, the question is "
    "asked again": ("input-required-result-ignore-extra-params:sep-2322-ignore-unexpected-params",),
    "schemas are made from markdown, which has no `$defs` and no `if`": (
        "json-schema-2020-12:json-schema-2020-12-tool-found",
    ),
    "no argument is repeated in a header": ("http-custom-header-server-validation:sep-2243-*",),
    "an interrupted stream is not resumed; a call that began finishes": (
        "server-sse-polling:server-sse-*",
    ),
    "a skill's folder contains its one file, and no folder": (
        "sep-2640-skills-directory:sep-2640-directory-read-subdir-mimetype",
    ),
    "the server has no tasks": ("tasks-*:*",),
    "the server completes no arguments": ("completion-*:*",),
}
NEVER = frozenset(("wire-schema-valid", "scenario-timeout"))
"""Checks that always apply."""


def reason_against(scenario: str, check: str) -> str | None:
    """Return the reason why a check does not apply, or None if it does."""
    if check in NEVER:
        return None
    name = f"{scenario}:{check}"
    for reason, patterns in REASONS.items():
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            return reason
    return None
