"""Collect the hooks of plugins: guards, origins, the user's words, observers and dialects."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from toolmd._load.plugins import PluginAnswer, Plugins, broken_plugin, reason, several
from toolmd._types.call import Call
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.registry import BoundTool
from toolmd._types.reply import Dialect
from toolmd._types.result import Result
from toolmd._types.settings import Settings
from toolmd.hooks import Guard

if TYPE_CHECKING:
    from toolmd._call.words import AskIntent


def guards_of(plugins: Plugins, settings: Settings) -> Callable[[BoundTool], Sequence[Guard]]:
    """Return a function that asks each plugin for a tool's guards. Raises what a plugin raised."""

    def guards(tool: BoundTool) -> Sequence[Guard]:
        for name in tool.hooked:
            plugins.demand(name)
        found: list[Guard] = []
        # Without guards, no spec needs to be decoded.
        if plugins.implements("toolmd_guards"):
            for answer in plugins.ask("toolmd_guards", spec=tool.spec, settings=settings):
                if answer.error is not None:
                    raise answer.error
                found.extend(several(answer.value))
        return found

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
                yield from _texts(answer.value)

    return origins if plugins.implements("toolmd_approved_origins") else None


def doubt_of(plugins: Plugins) -> Callable[[], tuple[str, ...]] | None:
    """Return a function that asks each plugin for words of doubt; None where no plugin has any.

    It raises what a plugin raised, and TypeError for anything but texts.
    """

    @cache
    def doubt() -> tuple[str, ...]:
        found: list[str] = []
        for answer in plugins.ask("toolmd_doubt_words"):
            if answer.error is not None:
                raise answer.error
            words = [*several(answer.value)]
            if not all(isinstance(word, str) and word for word in words):
                raise TypeError(f"toolmd_doubt_words of {answer.plugin} returned no list of texts")
            found += words
        return tuple(found)

    return doubt if plugins.implements("toolmd_doubt_words") else None


def ask_intent_of(plugins: Plugins) -> "AskIntent | None":
    """Return a function that asks plugins about the user's words; None where none answers."""

    def ask(kind: str, wanted: Sequence[str], call: Call) -> Iterable[Any]:
        messages = (*call.caller.earlier, call.caller.message)
        question: dict[str, Any] = {"kind": kind, "wanted": wanted, "messages": messages}
        for answer in plugins.ask("toolmd_intent", at_load=False, call=call, **question):
            if answer.error is not None:
                raise answer.error
            yield answer.value

    return ask if plugins.implements("toolmd_intent") else None


def _texts(said: Any) -> tuple[str, ...]:
    try:
        return tuple(text for text in several(said) if isinstance(text, str))
    except Exception:  # noqa: BLE001 - what can't be read approves nothing
        return ()


def listeners_of(
    plugins: Plugins, settings: Settings
) -> tuple[
    Callable[[Call, BoundTool], None] | None, Callable[[Call, BoundTool, Result], None] | None
]:
    """Return the hooks before and after a call; None where no plugin has them."""

    def before(call: Call, tool: BoundTool) -> None:
        _tell(plugins, "toolmd_before_call", call=call, spec=tool.spec)

    def after(call: Call, tool: BoundTool, result: Result) -> None:
        said = {"call": call, "spec": tool.spec, "result": result, "settings": settings}
        _tell(plugins, "toolmd_after_call", **said)

    return (
        before if plugins.implements("toolmd_before_call") else None,
        after if plugins.implements("toolmd_after_call") else None,
    )


def _tell(plugins: Plugins, hook: str, **said: Any) -> None:
    for _ in plugins.ask(hook, at_load=False, **said):
        pass


class Dialects(NamedTuple):
    """The dialects, and the errors of plugins' dialects."""

    by_name: Mapping[str, Dialect]
    diagnostics: tuple[Diagnostic, ...] = ()


def dialects_of(plugins: Plugins) -> Dialects:
    """Ask each plugin for its dialects; a name that is taken already is left out."""
    # A program that only calls tools reads no reply.
    from toolmd._dialect import DIALECTS

    known = dict(DIALECTS)
    problems = []
    for answer in plugins.ask("toolmd_dialects"):
        given, wrong = _given(answer)
        if wrong is not None:
            message = f"can't give dialects: {reason(wrong)}"
            problems.append(broken_plugin(answer.plugin, message))
        for dialect in given:
            if dialect.name in known:
                message = f"can't bring the dialect {dialect.name!r}: the name is taken"
                problems.append(broken_plugin(answer.plugin, message))
            else:
                known[dialect.name] = dialect
    return Dialects(known, tuple(problems))


def _given(answer: PluginAnswer) -> tuple[list[Dialect], BaseException | None]:
    """Return all dialects of a plugin, or none and the reason."""
    if answer.error is not None:
        return [], answer.error
    try:
        given = several(answer.value)
    except Exception as error:  # noqa: BLE001 - foreign code
        return [], error
    if odd := [one for one in given if not isinstance(one, Dialect)]:
        return [], TypeError(f"{odd[0]!r} is no Dialect")
    return given, None
