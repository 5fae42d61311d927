"""Gather the dialects of a snapshot: the built-in ones, and those that plugins bring."""

from collections.abc import Mapping
from typing import NamedTuple

from toolmd._dialect import DIALECTS
from toolmd._load.plugins import PluginAnswer, Plugins, broken_plugin, reason, several
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.reply import Dialect


class Dialects(NamedTuple):
    """The dialects, and the errors of plugins' dialects."""

    by_name: Mapping[str, Dialect]
    diagnostics: tuple[Diagnostic, ...] = ()


def dialects_of(plugins: Plugins) -> Dialects:
    """Ask each plugin for its dialects; a name that is taken already is left out."""
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
