"""The operations on tools and skills: list and show them, and call a tool."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from toolmd._export.definition import describe_bound, list_entry
from toolmd._http.api.errors import ApiError
from toolmd._http.api.operation import ApiRequest, Body, Operation
from toolmd._http.api.snapshot_document import SnapshotDocument
from toolmd._types.registry import Bound
from toolmd._types.result import Result
from toolmd._workspace import Workspace
from toolmd._workspace.names import known_name
from toolmd.errors import NotFoundError

Confidence = Annotated[float, Field(ge=0, le=1)]
SURE = "The model's confidence, 0 to 1."


class CallBody(Body):
    """A call of one tool."""

    arguments: dict[str, Any] | str = Field(
        default_factory=dict, description="The arguments, an object or its JSON text."
    )
    confidence: Confidence | None = Field(None, description=SURE)
    message: str = Field("", description="The user's own words, for the intent check.")
    call_id: str | None = Field(None, description="The result has the same id.")
    dry_run: bool = Field(default=False, description="Run all checks, but not the tool.")


class Tools:
    """The operations on tools and skills."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._tools = SnapshotDocument(workspace, lambda: _entries(workspace.tools))
        self._skills = SnapshotDocument(workspace, lambda: _entries(workspace.skills))

    def operations(self) -> tuple[Operation, ...]:
        """Return the routes."""
        return (
            Operation("GET", "/api/tools", "listTools", "List the tools.",
                      self._tools.answer, "Entries", tagged=True),
            Operation("GET", "/api/tools/{name}", "showTool", "Show a tool.", self._tool,
                      "Definition", problems=(404,)),
            Operation("POST", "/api/tools/{name}/call", "callTool", "Call a tool.", self._call,
                      "Result", CallBody, (400, 404, 408, 413), details=CALL),
            Operation("GET", "/api/skills", "listSkills", "List the skills.",
                      self._skills.answer, "Entries", tagged=True),
            Operation("GET", "/api/skills/{name}", "showSkill", "Show a skill.", self._skill,
                      "Definition", problems=(404,)),
        )  # fmt: skip

    async def _tool(self, asked: ApiRequest) -> Any:
        return _whole(self._workspace.tools[known(asked.name, self._workspace, "tool")])

    async def _skill(self, asked: ApiRequest) -> Any:
        return _whole(self._workspace.skills[known(asked.name, self._workspace, "skill")])

    async def _call(self, asked: ApiRequest) -> Any:
        body, caller = asked.body, asked.caller
        folded = asked.name.replace("-", "_")
        result = await self._workspace.call(
            folded if folded in self._workspace.tools else asked.name,
            body.arguments,
            confidence=body.confidence,
            message=body.message,
            user=caller.user,
            context=caller.context,
            conversation=caller.conversation,
            call_id=body.call_id,
            dry_run=body.dry_run,
        )
        return answered(result)


CALL = (
    "A result is a 200 with any outcome: the model must read that a call was denied (`denied`) or"
    " is pending (`confirm`, `review`). Only an unknown tool is a 404, a problem with the"
    " additional member `result`."
)


def answered(result: Result) -> dict[str, Any]:
    """Return a result's JSON; raise ApiError if the tool or the confirmation is unknown."""
    code = result.error.code if result.error is not None else ""
    if code in {"unknown_tool", "confirmation_not_found"}:
        assert result.error is not None
        raise ApiError(404, code, result.error.message, result=result.to_dict())
    return result.to_dict()


def known(name: str, workspace: Workspace, kind: Literal["tool", "skill"]) -> str:
    """Return a name in its known form; raise ApiError with similar names."""
    try:
        return known_name(name, workspace.registry, kind)
    except NotFoundError as error:
        raise ApiError(404, f"unknown_{kind}", str(error)) from None


def _entries(bound: Mapping[str, Bound[Any]]) -> list[dict[str, Any]]:
    return [list_entry(one) for one in bound.values()]


def _whole(bound: Any) -> dict[str, Any]:
    described = describe_bound(bound)
    found = [diagnostic.to_dict() for diagnostic in bound.diagnostics]
    return {**described, "stale": bound.stale, "diagnostics": found}
