"""Collect the hooks of plugins: guards, origins, the user's words, observers and dialects."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from toolmd._load.plugins import Plugins, broken_plugin, reason, several
from toolmd._types.call import Call
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.registry import BoundTool
from toolmd._types.reply import Dialect
from toolmd._types.result import Result
from toolmd._types.settings import Settings
from toolmd.hooks import Guard

if TYPE_CHECKING:
    from toolmd._call.words import AskIntent


def _values(plugins: Plugins, hook: str, **asked: Any) -> Iterator[tuple[str, Any]]:
    """Yield each plugin's name and answer; raise what a plugin raised."""
    for answer in plugins.ask(hook, **asked):
        if answer.error is not None:
            raise answer.error
        yield answer.plugin, answer.value


def guards_of(plugins: Plugins, settings: Settings) -> Callable[[BoundTool], Sequence[Guard]]:
    """Return a function that asks each plugin for a tool's guards. Raises what a plugin raised."""

    def guards(tool: BoundTool) -> Sequence[Guard]:
        for name in tool.hooked:
            plugins.demand(name)
        if not plugins.implements("toolmd_guards"):
            return []  # No spec needs to be decoded.
        asked = _values(plugins, "toolmd_guards", spec=tool.spec, settings=settings)
        return [guard for _, value in asked for guard in several(value)]

    return guards


def origins_of(
    plugins: Plugins, settings: Settings, tools: Mapping[str, BoundTool]
) -> Callable[[str], Iterable[str]] | None:
    """Return a function that asks each plugin for a tool's approved origins; None without any.

    A plugin that fails, or answers with anything but a list of texts, approves nothing.
    """

    def origins(name: str) -> Iterable[str]:
        spec = tools[name].spec
        for answer in plugins.ask("toolmd_approved_origins", spec=spec, settings=settings):
            if answer.error is None:
                texts = list[Any]()
                with suppress(Exception):  # What can't be read approves nothing.
                    texts = several(answer.value)
                yield from (text for text in texts if isinstance(text, str))

    return origins if plugins.implements("toolmd_approved_origins") else None


def doubt_of(plugins: Plugins) -> Callable[[], tuple[str, ...]] | None:
    """Return a function that asks each plugin for words of doubt; None where no plugin has any.

    It raises what a plugin raised, and TypeError for anything but texts.
    """

    @cache
    def doubt() -> tuple[str, ...]:
        found: list[str] = []
        for plugin, value in _values(plugins, "toolmd_doubt_words"):
            words = [*several(value)]
            if not all(isinstance(word, str) and word for word in words):
                raise TypeError(f"toolmd_doubt_words of {plugin} returned no list of texts")
            found += words
        return tuple(found)

    return doubt if plugins.implements("toolmd_doubt_words") else None


def ask_intent_of(plugins: Plugins) -> "AskIntent | None":
    """Return a function that asks plugins about the user's words; None where none answers."""

    def ask(kind: str, wanted: Sequence[str], call: Call) -> Iterable[Any]:
        messages = (*call.caller.earlier, call.caller.message)
        asked: dict[str, Any] = {"kind": kind, "wanted": wanted, "messages": messages}
        found = _values(plugins, "toolmd_intent", at_load=False, call=call, **asked)
        return (value for _, value in found)

    return ask if plugins.implements("toolmd_intent") else None


def before_of(plugins: Plugins) -> Callable[[Call, BoundTool], None] | None:
    """Return what reports a call to plugins before it; None where no plugin listens."""

    def before(call: Call, tool: BoundTool) -> None:
        [*plugins.ask("toolmd_before_call", at_load=False, call=call, spec=tool.spec)]

    return before if plugins.implements("toolmd_before_call") else None


def after_of(
    plugins: Plugins, settings: Settings
) -> Callable[[Call, BoundTool, Result], None] | None:
    """Return what reports a call's result to plugins; None where no plugin listens."""

    def after(call: Call, tool: BoundTool, result: Result) -> None:
        told: dict[str, Any] = {"spec": tool.spec, "result": result, "settings": settings}
        [*plugins.ask("toolmd_after_call", at_load=False, call=call, **told)]

    return after if plugins.implements("toolmd_after_call") else None


class Dialects(NamedTuple):
    """The dialects, and the errors of plugins' dialects."""

    by_name: Mapping[str, Dialect]
    diagnostics: tuple[Diagnostic, ...] = ()


def dialects_of(plugins: Plugins) -> Dialects:
    """Ask each plugin for its dialects; a name that is taken already is left out."""
    # A program that only calls tools reads no reply.
    from toolmd._dialect import DIALECTS

    known, problems = dict(DIALECTS), []
    for answer in plugins.ask("toolmd_dialects"):
        given, wrong = list[Any](), answer.error
        try:
            given = several(answer.value)
        except Exception as error:  # noqa: BLE001 - foreign code
            wrong = error
        if odd := [one for one in given if not isinstance(one, Dialect)]:
            wrong = TypeError(f"{odd[0]!r} is no Dialect")
        if wrong is not None:
            message = f"can't give dialects: {reason(wrong)}"
            problems.append(broken_plugin(answer.plugin, message))
            continue
        for dialect in given:
            if dialect.name in known:
                message = f"can't bring the dialect {dialect.name!r}: the name is taken"
                problems.append(broken_plugin(answer.plugin, message))
            else:
                known[dialect.name] = dialect
    return Dialects(known, tuple(problems))
