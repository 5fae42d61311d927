"""Run the Examples of tools' files as tests, away from the project's own state."""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

from toolmd._store import MEMORY
from toolmd._types.call_spec import language_and_word
from toolmd._types.code import Code
from toolmd._types.diagnostic import Severity
from toolmd._types.registry import BoundTool, Implementation
from toolmd._types.result import Result
from toolmd._types.tool import Example, ToolSpec
from toolmd._workspace.names import known_name
from toolmd._workspace.workspace import Workspace
from toolmd.errors import NotFoundError, ToolError

SHOWN = 200
"""Characters of a value in the message of a failure."""
SOMEBODY = "example"
"""The user, and the facts that the arguments do not name."""

_LEFT_OUT: Mapping[str, Mapping[str, Any]] = {
    "auth_required": {"user": None},
    "context_required": {"context": {}},
    "missing_confidence": {"confidence": None},
    "low_confidence": {"confidence": 0.0},
    "no_explicit_intent": {"message": ""},
    "not_stated_by_user": {"message": ""},
}
"""The facts that the host leaves out, so that a call is denied with this code."""
_PENDING = ("confirmation_required", "approval_required", "review_required")
"""The errors that expect a call to wait for a person; no run can give them."""


How = Literal["validated", "called", "unread"]


class TrialResult(NamedTuple):
    """The outcome of one example."""

    tool: str
    example: str
    passed: bool
    how: How
    """`validated` up to the run; `called` for real; `unread` where its file can't be read."""
    message: str = ""
    """Why it failed."""

    def to_dict(self) -> dict[str, Any]:
        """Return its JSON (json.md, "An example's test")."""
        return {key: value for key, value in self._asdict().items() if value != ""}


def try_examples(
    folder: Path | None,
    names: Sequence[str] = (),
) -> tuple[TrialResult, ...]:
    """Try the examples of these tools of a project, or of all; raises NotFoundError.

    An example without Result or Error passes through all checks and does not run; what a Given
    reads may not be here. An example with a Result, or with an Error that only a run can give, is
    called for real: in a state folder made for the example alone and thrown away. MCP servers and
    web services are never called: an example of their tools passes through all checks and does not
    run. The caller is an ideal one, who is sure, whose words ask for it, and who confirms.
    """
    with TemporaryDirectory(prefix="toolmd-") as scratch:
        trial = _Trial(folder, Path(scratch))
        with trial.opened("clean") as workspace:
            return tuple(trial.results(workspace, names))


class _Trial:
    def __init__(self, folder: Path | None, scratch: Path) -> None:
        self._folder = folder
        self._scratch = scratch
        self._number = 0

    def opened(self, state: str) -> Workspace:
        # An example must not count in the project's own store.
        overrides = {"state": str(self._scratch / state), "store": MEMORY}
        return Workspace.open(self._folder, overrides=overrides)

    def results(self, workspace: Workspace, names: Sequence[str]) -> Iterator[TrialResult]:
        if not names:
            yield from _report_unread_files(workspace)
        for bound in _choose(workspace, names):
            yield from _report_unread_examples(bound)
            for example in bound.spec.examples:
                how, why = self._try(workspace, bound, example)
                yield TrialResult(bound.name, example.title, not why, how, why)

    def _try(self, workspace: Workspace, bound: BoundTool, example: Example) -> tuple[How, str]:
        """Return how an example was tried, and why it failed; empty where it passed."""
        caller, expected = _ideal_caller(bound.spec, example), example.error
        result = _dry(workspace, bound.name, example, caller)
        if expected is not None and expected in _LEFT_OUT and _code(result) != expected:
            result = _dry(workspace, bound.name, example, {**caller, **_LEFT_OUT[expected]})
        if _code(result) == "rule_unavailable" and expected is None and not example.has_result:
            return "validated", ""  # What its Given reads is not here.
        is_remote = bound.binding.kind == "remote"
        if result.outcome == "denied" or expected in _PENDING:
            return "validated", _difference(example, result)
        if is_remote or (expected is None and not example.has_result):
            return "validated", ""
        why = _difference(example, self._run(bound.name, example, caller))
        if why and expected is not None and (stopped_by := _waiting_error(result)):
            why += f"; it waits for a person, which the error {stopped_by} expects"
        return "called", why

    def _run(self, name: str, example: Example, caller: Mapping[str, Any]) -> Result:
        """Call the tool in a state folder that holds nothing but what was parsed."""
        self._number += 1
        state = self._scratch / f"{self._number}"
        shutil.copytree(self._scratch / "clean", state)
        with self.opened(state.name) as workspace:
            for bound in workspace.registry.tools.values():
                if bound.binding.kind == "remote":
                    bound.bound_to = bound.binding._replace(load=_send_nothing)
            result = workspace.call_sync(name, example.arguments, **caller)
            if result.outcome in {"confirm", "review"} and result.confirmation is not None:
                result = workspace.confirmations.approve_sync(result.confirmation.id)
        return result


def _send_nothing() -> Implementation:
    raise ToolError("A test of examples calls no server and no service. Nothing was sent.")


def _choose(workspace: Workspace, names: Sequence[str]) -> Iterator[BoundTool]:
    if not names:
        yield from workspace.tools.values()
    for name in names:
        if name.replace("-", "_") in workspace.skills:
            raise NotFoundError(f"{name!r} is a skill: only tools have examples")
        yield workspace.tools[known_name(name, workspace.registry, "tool")]


def _report_unread_files(workspace: Workspace) -> Iterator[TrialResult]:
    """Return each file that has errors: what does not load can't be tried."""
    for path in dict.fromkeys(
        d.span.path
        for d in workspace.registry.diagnostics
        if d.severity is Severity.ERROR and d.span.path.endswith(".tool.md")
    ):
        yield _report_unread(path, f"the file has errors: toolmd check {path}")


def _report_unread_examples(bound: BoundTool) -> Iterator[TrialResult]:
    """Return what looks like an example and could not be read, so that it is in no spec."""
    titles = [f"'{example.title}'" for example in bound.spec.examples]
    for found in bound.diagnostics:
        if found.code is Code.INVALID_EXAMPLE and not any(t in found.message for t in titles):
            yield _report_unread(bound.name, f"{found.span}: {found.message}")


def _report_unread(tool: str, why: str) -> TrialResult:
    return TrialResult(tool, "", passed=False, how="unread", message=why)


def _ideal_caller(spec: ToolSpec, example: Example) -> dict[str, Any]:
    """Return a caller whom only the arguments check could deny."""
    given = example.arguments
    keywords = [language_and_word(keyword)[1] for keyword in spec.safety.intent_keywords]
    words = [*keywords, json.dumps(given, ensure_ascii=False)]
    return {
        "confidence": 1.0,
        "message": " ".join(words),
        "user": SOMEBODY,
        "roles": spec.allowed_roles,
        "context": {fact: _fact_of(fact, given) for fact in spec.requires_context},
    }


def _fact_of(fact: str, given: Mapping[str, Any]) -> str:
    """Return the fact as the arguments name it: `patient_id`, `patientId` or `patient`."""
    keys = (f"{fact}_id", f"{fact}Id", fact)
    return next((given[key] for key in keys if isinstance(given.get(key), str)), SOMEBODY)


def _dry(workspace: Workspace, name: str, example: Example, caller: Mapping[str, Any]) -> Result:
    return workspace.call_sync(name, example.arguments, dry_run=True, **caller)


def _code(result: Result) -> str:
    return result.error.code if result.error is not None else ""


def _waiting_error(result: Result) -> str:
    """Return the expected error of a pending call; empty if the call is not pending."""
    return "" if result.confirmation is None else result.confirmation.waits_as


def _difference(example: Example, result: Result) -> str:
    """Report how the result is not the one that the example expects; nothing where it is."""
    expected = example.error
    if expected is not None:
        is_expected = expected in {_code(result), _waiting_error(result)}
        return "" if is_expected else f"expected the error {expected}, got {_describe(result)}"
    if not result.success:
        return _describe(result)
    data = result.data
    if _same(example.result, data) or (data is not None and example.result == result.message != ""):
        return ""
    return f"expected {_shorten(example.result)}, got {_shorten(data)}"


def _same(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal; `true` is no number, `1.0` is 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other)


def _describe(result: Result) -> str:
    if result.error is not None:
        return f"{result.error.code}: {result.error.message}"
    if result.outcome == "allowed":
        return "none: the call may run"
    if stopped_by := _waiting_error(result):
        return stopped_by
    return f"{result.outcome} with {_shorten(result.data)}"


def _shorten(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
