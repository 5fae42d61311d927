"""Handle actions in the console: try, decide, accept, run; each answers with a part of a page."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from toolmd._auth import CALLER
from toolmd._http.console.catalogue import find_tool
from toolmd._http.console.checks import checks_of
from toolmd._http.console.confirmations import find_slip, without_sensitive
from toolmd._http.console.layout import page
from toolmd._http.console.model_view import model_view
from toolmd._http.console.view import ConsoleView
from toolmd._types.call import Caller, fact_name
from toolmd._types.result import Result
from toolmd._validation import MalformedError, read_object
from toolmd._validation.strict_json import read_json
from toolmd._workspace.examples import try_examples
from toolmd.errors import ToolmdError

LONGEST = 512 * 1024
"""The most bytes of a request."""


class _UnfitError(ToolmdError):
    """A request that the console's own script would not send."""


def answered(
    action: Callable[[Request], Awaitable[Response]],
) -> Callable[[Request], Awaitable[Response]]:
    """Return an action that answers an error with its message."""

    async def act(request: Request) -> Response:
        try:
            return await action(request)
        except _UnfitError as error:
            return _problem(str(error), 400)
        except ToolmdError as error:
            return _problem(str(error), 409)

    return act


class ConsoleActions:
    """The POST routes, which answer with a part of a page."""

    def __init__(self, view: ConsoleView) -> None:
        self._view = view
        self._workspace = view.workspace

    async def try_tool(self, request: Request) -> Response:
        """Call a tool, or only check the call."""
        bound = find_tool(self._workspace, request.path_params["name"])
        if bound is None:
            return _problem("This tool no longer exists.", 404)
        given = await _read(request)
        confidence = _number(given.get("confidence"))
        result = await self._workspace.call(
            bound.name,
            _text(given, "arguments") or "{}",
            confidence=confidence,
            message=_text(given, "message"),
            user=_text(given, "user") or None,
            context=_context(given),
            dry_run=given.get("dry_run") is True,
        )
        confirmation = result.confirmation
        slip = (
            await find_slip(self._workspace, confirmation.id)
            if confirmation is not None and confirmation.id
            else None
        )
        checks = checks_of(bound, self._workspace.settings, result, confidence)
        return page(
            "part_tried.html",
            result=result,
            checks=checks,
            slip=slip,
            view=await model_view(self._workspace, result, _text(given, "user") or None),
        )

    async def examples(self, request: Request) -> Response:
        """Run the examples of a tool, as `toolmd test` does."""
        name = request.path_params["name"]
        tried = await asyncio.to_thread(try_examples, self._workspace.settings.root, [name])
        return page("part_examples.html", tried=tried)

    async def decide(self, request: Request) -> Response:
        """Approve, edit, reject or answer a pending call."""
        confirmation_id = request.path_params["confirmation_id"]
        given = await _read(request)
        confirmation = await self._workspace.confirmations.get(confirmation_id)
        by = request.scope["state"][CALLER].user
        result = await self._decided(confirmation_id, given, by)
        again = result.confirmation
        slip = await find_slip(self._workspace, again.id) if again is not None else None
        user = None if confirmation is None else confirmation.call.caller.user
        shown = await without_sensitive(self._workspace, confirmation_id, result)
        # What a model reads has the values that are hidden here.
        whole = shown.data == result.data
        view = await model_view(self._workspace, result, user) if whole else None
        return page("part_decided.html", result=shown, slip=slip, view=view)

    async def accept(self, request: Request) -> Response:
        """Make an edit that weakens a policy live."""
        await _read(request)
        edit = await self._workspace.changes.accept(request.path_params["name"])
        return page("part_accepted.html", edit=edit)

    async def clear_crisis(self, request: Request) -> Response:
        """Clear the crisis flag of a conversation: its calls run again."""
        given = await _read(request)
        conversation = _text(given, "conversation")
        user = _text(given, "user") if "user" in given else None
        await self._workspace.crises.clear(conversation, user=user)
        return page("part_message.html", message=f"{conversation}: the crisis flag is cleared.")

    async def run(self, request: Request) -> Response:
        """Start a run of a skill; its events come over the feed."""
        name = request.path_params["name"].replace("-", "_")
        bound = self._workspace.skills.get(name)
        if bound is not None and not bound.spec.user_invocable:
            return _problem(f"{name} is not for people to start (User Invocable: no)", 403)
        given = await _read(request)
        caller = Caller(_text(given, "user") or None, _context(given), _text(given, "message"))
        inputs, confidence = _object(given, "arguments"), _number(given.get("confidence"))
        run_id = self._view.start_run(name, inputs, caller, confidence)
        return page("part_started.html", run_id=run_id)

    async def cancel(self, request: Request) -> Response:
        """Cancel a run."""
        return await self._steered(request, self._workspace.runs.cancel)

    async def resume(self, request: Request) -> Response:
        """Resume a run that is stuck."""
        return await self._steered(request, self._workspace.runs.resume)

    async def _steered(self, request: Request, steer: Any) -> Response:
        await _read(request)
        result = await steer(request.path_params["run_id"])
        return page("part_message.html", message=result.message)

    async def _decided(self, confirmation_id: str, given: dict[str, Any], by: str | None) -> Result:
        confirmations = self._workspace.confirmations
        match given.get("decision"):
            case "approve":
                return await confirmations.approve(confirmation_id, by=by)
            case "edit":
                edit = _object(given, "edit") or None
                return await confirmations.approve(confirmation_id, edit, by=by)
            case "reject":
                return await confirmations.reject(confirmation_id, by=by)
            case "respond":
                return await confirmations.respond(confirmation_id, _text(given, "text"), by=by)
            case _:
                raise _UnfitError("A decision must be approve, edit, reject or respond.")


async def _read(request: Request) -> dict[str, Any]:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > LONGEST:
            raise _UnfitError(f"A request may have at most {LONGEST // 1024} KiB.")
    try:
        given = read_json(bytes(body).decode() or "{}", depth=64)
    except ValueError:
        raise _UnfitError("The request is not JSON.") from None
    if not isinstance(given, dict):
        raise _UnfitError("The request is not a JSON object.")
    return given


def _context(given: dict[str, Any]) -> dict[str, str]:
    """Parse the facts about the caller: `patient=P-1001, tenant=north`."""
    facts: dict[str, str] = {}
    for stated in filter(None, (part.strip() for part in _text(given, "context").split(","))):
        name, equals, value = stated.partition("=")
        fact = fact_name(name)
        if fact is None or not equals or fact in facts:
            raise _UnfitError("Write the context as patient=P-1001, tenant=north.")
        facts[fact] = value.strip()
    return facts


def _text(given: dict[str, Any], key: str) -> str:
    value = given.get(key, "")
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _UnfitError(f"{key} must be text.")
    return value


def _object(given: dict[str, Any], key: str) -> Mapping[str, Any]:
    try:
        return read_object(_text(given, key) or "{}")
    except MalformedError as error:
        raise _UnfitError(str(error)) from None


def _number(value: Any) -> float | None:
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _UnfitError("confidence must be a number from 0 to 1.")
    return value


def _problem(said: str, status: int) -> Response:
    return page("part_problem.html", status=status, message=said)
