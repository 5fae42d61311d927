"""Tools that call others: the Result of a call, given as their own, is what they came to."""

from toolmd._call.invoke import MAX_MESSAGE
from toolmd._skills.interpreter import result_of
from toolmd._types.call_spec import Limits, Safety
from toolmd._types.schema import Parameter, Schema
from toolmd._types.settings import AuditSettings, Settings
from toolmd.errors import ToolError

DEPTH = Parameter(name="depth", shape=Schema(types=("integer",), maximum=5), required=True)
ANY_DEPTH = Parameter(name="depth", shape=Schema())


async def dive(depth=0):
    if depth == 4:
        raise ToolError("Too cold.", code="cold")
    return {"message": "Down.", "depth": depth, "rows": list(range(depth))}


def pair(harness, tool):
    async def expedition(depth, *, context):
        return await context.call("dive", {"depth": depth})

    return harness(
        tool("dive", dive, DEPTH),
        tool("expedition", expedition, ANY_DEPTH, context="context", limits=Limits(max_rows=2)),
    )


def test_a_returned_result_is_data_of_the_outer_tool(harness, tool):
    result = pair(harness, tool).call("expedition", {"depth": 3}, call_id="c1")
    assert result.success
    assert result.data == {"message": "Down.", "depth": 3, "rows": [0, 1, 2]}
    assert (result.tool, result.message, result.tool_call_id) == ("expedition", "Down.", "c1")


def test_a_returned_denial_or_failure_is_not_a_success(harness, tool):
    both = pair(harness, tool)
    refused = both.call("expedition", {"depth": 9}, call_id="c1")
    assert (refused.outcome, refused.error.code) == ("denied", "invalid_arguments")
    assert [problem.path for problem in refused.error.details] == ["depth"]
    assert (refused.tool, refused.tool_call_id, refused.attempts) == ("expedition", "c1", 1)
    failed = both.call("expedition", {"depth": 4})
    assert (failed.outcome, failed.error.code, failed.error.message) == (
        "failed", "cold", "Too cold.",
    )  # fmt: skip


def test_a_tool_that_returns_a_pending_call_does_not_wait_for_it(harness, tool, tmp_path):
    async def expedition(*, context):
        return await context.call("dive", {"depth": 1})

    both = harness(
        tool("dive", dive, DEPTH, safety=Safety(requires_confirmation=True)),
        tool("expedition", expedition, context="context"),
        settings=Settings(root=tmp_path, state=tmp_path, audit=AuditSettings(enabled=False)),
    )
    result = both.call("expedition")
    assert (result.outcome, result.error.code) == ("failed", "confirmation_required")
    assert result.confirmation is None
    assert [held.call.tool for held in both.dispatcher.confirmations.pending()] == ["dive"]


def test_a_skill_in_python_that_returns_a_result_has_its_outcome(harness, tool):
    both = pair(harness, tool)
    done, refused = (both.call("dive", {"depth": depth}) for depth in (1, 9))
    assert result_of(done, "Dive").data == {"message": "Down.", "depth": 1, "rows": [0]}
    said = result_of(refused, "Dive")
    assert (said.success, said.code) == (False, "invalid_arguments")
    assert "depth" in said.message


def test_the_text_of_a_tool_error_is_bounded(harness, tool):
    async def long(depth):
        raise ToolError("x" * depth)

    one = harness(tool("long", long, ANY_DEPTH))
    assert one.call("long", {"depth": MAX_MESSAGE}).error.message == "x" * MAX_MESSAGE
    cut = one.call("long", {"depth": MAX_MESSAGE + 1}).error.message
    assert cut == "x" * (MAX_MESSAGE - 1) + "…"
