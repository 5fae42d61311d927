"""A live snapshot: the hooks of its plugins, and what they and its calls need, on first use."""

import os
import threading
import time
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from toolmd._load.build import Snapshot
from toolmd._load.files import whole_file
from toolmd._load.plugins import Plugins, broken_plugin, line_in, reason, several
from toolmd._store.store import Store
from toolmd._types.call import Call
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity, Span, in_reading_order
from toolmd._types.identity import roles_of
from toolmd._types.registry import Bound, BoundTool, Gateway, Registry
from toolmd._types.result import Result
from toolmd._types.settings import AuditSettings, Settings
from toolmd._workspace.background_loop import off_loop
from toolmd.errors import did_you_mean
from toolmd.hooks import Guard

if TYPE_CHECKING:
    from toolmd._call import Dispatcher
    from toolmd._call.audit.log import AuditLog
    from toolmd._export.exported import Exported
    from toolmd._types.run import Clock
    from toolmd._types.turn import Dialect
    from toolmd._workspace.model_results import Keeper

OVERLAP_S = 0.25
"""How long one import is waited for before the next begins beside it, in seconds."""
_T = TypeVar("_T")


class Hooks:
    """The hooks of plugins around calls; a method raises what a plugin raised."""

    def __init__(
        self, plugins: Plugins, settings: Settings, tools: Mapping[str, BoundTool]
    ) -> None:
        self._plugins = plugins
        self._settings = settings
        self._tools = tools

    def of(self, hook: str, method: _T) -> _T | None:
        """Return the method that asks a hook; None where no plugin implements the hook."""
        return method if self._plugins.implements(hook) else None

    def guards(self, tool: BoundTool) -> Sequence[Guard]:
        """Ask each plugin for a tool's guards."""
        for name in tool.hooked:
            self._plugins.demand(name)
        if not self._plugins.implements("toolmd_guards"):
            return []  # No spec needs to be decoded.
        asked = self._ask("toolmd_guards", spec=tool.spec, settings=self._settings)
        return [guard for _, value in asked for guard in several(value)]

    def origins(self, name: str) -> Iterable[str]:
        """Ask each plugin for a tool's approved origins.

        A plugin that fails, or answers with anything but a list of texts, approves nothing.
        """
        told: dict[str, Any] = {"spec": self._tools[name].spec, "settings": self._settings}
        for answer in self._plugins.ask("toolmd_approved_origins", **told):
            if answer.error is None:
                texts = list[Any]()
                with suppress(Exception):  # What can't be read approves nothing.
                    texts = several(answer.value)
                yield from (text for text in texts if isinstance(text, str))

    @cached_property
    def doubt(self) -> tuple[str, ...]:
        """The words of doubt of all plugins; raises TypeError for anything but texts."""
        found: list[str] = []
        for plugin, value in self._ask("toolmd_doubt_words"):
            words = [*several(value)]
            if not all(isinstance(word, str) and word for word in words):
                raise TypeError(f"toolmd_doubt_words of {plugin} returned no list of texts")
            found += words
        return tuple(found)

    def intent(self, kind: str, wanted: Sequence[str], call: Call) -> Iterable[Any]:
        """Ask each plugin about the user's words."""
        messages = (*call.caller.earlier, call.caller.message)
        asked: dict[str, Any] = {"kind": kind, "wanted": wanted, "messages": messages}
        return (value for _, value in self._ask("toolmd_intent", at_load=False, call=call, **asked))

    def callers(self, headers: Mapping[str, str]) -> Iterable[Any]:
        """Ask each plugin who sent a request."""
        asked = self._ask("toolmd_authenticate", at_load=False, headers=headers)
        return (value for _, value in asked)

    def before(self, call: Call, tool: BoundTool) -> None:
        """Report a call to plugins before it."""
        self._plugins.tell("toolmd_before_call", call=call, spec=tool.spec)

    def after(self, call: Call, tool: BoundTool, result: Result) -> None:
        """Report a call's result to plugins."""
        told: dict[str, Any] = {"spec": tool.spec, "result": result, "settings": self._settings}
        self._plugins.tell("toolmd_after_call", call=call, **told)

    def _ask(self, hook: str, **asked: Any) -> Iterator[tuple[str, Any]]:
        """Yield each plugin's name and answer."""
        for answer in self._plugins.ask(hook, **asked):
            if answer.error is not None:
                raise answer.error
            yield answer.plugin, answer.value


class Dialects(NamedTuple):
    """The dialects, and the errors of plugins' dialects."""

    by_name: "Mapping[str, Dialect]"
    diagnostics: tuple[Diagnostic, ...] = ()

    @classmethod
    def of(cls, plugins: Plugins) -> "Dialects":
        """Ask each plugin for its dialects; a name that is taken already is left out."""
        # A program that only calls tools reads no reply.
        from toolmd._dialect import DIALECTS
        from toolmd._types.turn import Dialect

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
                if known.setdefault(dialect.name, dialect) is not dialect:
                    message = f"can't bring the dialect {dialect.name!r}: the name is taken"
                    problems.append(broken_plugin(answer.plugin, message))
        return cls(known, tuple(problems))


class Logs:
    """The logs of a workspace: one for each `[audit]` that was live; they outlive snapshots."""

    def __init__(self, store: Store) -> None:
        """Keep the store, which notes the newest records."""
        self.store = store
        self._lock = threading.Lock()
        self._logs: dict[AuditSettings, AuditLog] = {}

    def log_of(self, settings: Settings) -> "AuditLog | None":
        """Return the log of these settings; None where the audit is off."""
        # Only with the first call: what only looks at definitions does not import it.
        from toolmd._call.audit.log import log_of

        with self._lock:
            log = self._logs.get(settings.audit) or log_of(settings, self.store)
            if log is not None:
                self._logs[settings.audit] = log
            return log

    def close(self) -> None:
        """Note the newest records, and close the logs."""
        with self._lock:
            logs, self._logs = self._logs, {}
        for log in logs.values():
            log.close()


class Live:
    """One snapshot behind the workspace's pointer; calls under way keep theirs."""

    def __init__(
        self, settings: Settings, snapshot: Snapshot, logs: Logs, clock: "Clock | None" = None
    ) -> None:
        self.settings = settings
        self.snapshot = snapshot
        self.registry: Registry = snapshot.registry
        self._logs = logs
        self.dispatcher: Dispatcher | None = None
        """Made once a call needed it: what only looks at definitions does not import it."""
        self.exports: dict[tuple[str, bool, bool], Exported] = {}
        """What was exported of all definitions, by target, whether with skills, and whether with
        the tool that reads kept results."""
        self._clock = clock
        self._epoch = time.time if clock is None else lambda: clock().timestamp()
        self._lock = threading.Lock()
        self._settled = False
        self._found: tuple[Diagnostic, ...] | None = None

    @cached_property
    def keeper(self) -> "Keeper":
        """The results that models read only in part, and the tool that reads the rest."""
        from toolmd._workspace.model_results import Keeper

        return Keeper(self.registry, self.settings, self._logs.store, self._epoch)

    @cached_property
    def policy(self) -> str:
        """The hash of the definitions and thresholds in force."""
        return self.snapshot.policy

    @property
    def gateways(self) -> Sequence[Gateway]:
        """What calls the tools of other programs."""
        return self.snapshot.around.gateways

    def for_models(self) -> Mapping[str, BoundTool]:
        """Return the tools that models may call: `read_result` only while a result is kept."""
        every = self.keeper.tools if self.keeper.is_open() else self.registry.tools
        return {name: tool for name, tool in every.items() if tool.call_spec.model_invocation}

    def open_dispatcher(self) -> "Dispatcher":
        """Return the dispatcher of this snapshot."""
        from toolmd._call import Dispatcher

        with self._lock:
            if self.dispatcher is None:
                hooks = Hooks(self.snapshot.plugins, self.settings, self.keeper.tools)
                self.dispatcher = Dispatcher(
                    replace(self.registry, tools=self.keeper.tools),
                    self.settings,
                    resources=self.snapshot.resources,
                    guards=hooks.guards,
                    before=hooks.of("toolmd_before_call", hooks.before),
                    after=hooks.of("toolmd_after_call", hooks.after),
                    clock=self._epoch,
                    store=self._logs.store,
                    log=self._logs.log_of(self.settings),
                    origins=hooks.of("toolmd_approved_origins", hooks.origins),
                    doubt=hooks.of("toolmd_doubt_words", lambda: hooks.doubt),
                    ask_intent=hooks.of("toolmd_intent", hooks.intent),
                )
            return self.dispatcher

    async def ready_dispatcher(self) -> "Dispatcher":
        """Return the dispatcher; the event loop goes on while plugins are imported for it."""
        if self.dispatcher is not None:
            return self.dispatcher
        return await _beside_loop(self.open_dispatcher)

    async def authenticate(self, headers: Mapping[str, str]) -> Any:
        """Return the first answer of the plugins about who sent a request."""
        from toolmd._call.threads import first_answer

        hooks = Hooks(self.snapshot.plugins, self.settings, {})
        return await first_answer(lambda: hooks.callers(headers))

    async def settle(self) -> None:
        """Ask plugins what replies, runs and lists need of them, next to the event loop."""
        if not self._settled:
            await _beside_loop(self._settle)

    def _settle(self) -> None:
        self.open_dispatcher()
        _ = self.dialects
        for bound in self._bound():
            _ = bound.binding
        self._settled = True

    def with_tools(self, tools: Mapping[str, BoundTool]) -> "Live":
        """Return this snapshot with its own dispatcher and other definitions of these tools."""
        registry = Registry({**self.registry.tools, **tools}, self.registry.skills)
        snapshot = replace(self.snapshot, registry=registry)
        return Live(self.settings, snapshot, self._logs, self._clock)

    @cached_property
    def python_hash(self) -> str:
        """The hex sha256 of the snapshot's Python."""
        return self.snapshot.around.code.of()

    @cached_property
    def dialects(self) -> Dialects:
        """The dialects that replies may be in."""
        return Dialects.of(self.snapshot.plugins)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All diagnostics of files, skills and bindings; it imports all Python.

        A late import is reported, and checked again the next time: it may have ended.
        """
        if self._found is None:
            found = self.look()
            if any(one.code is Code.IMPORT_TIMEOUT for one in found):
                return found
            self._found = found
        return self._found

    def python_at(self, places: Collection[str]) -> dict[str, str]:
        """Return the definitions that lie, or whose Python lies, at or within these places.

        Each name comes with the place of its Python; empty where it has none of its own.
        """
        root, found = f"{self.settings.root}{os.sep}", {}
        folders = tuple(f"{place}{os.sep}" for place in places)
        for bound in self._bound():
            python = f"{root}{bound.target.rpartition(':')[0]}" if bound.target else ""
            file = self.snapshot.kept.named[bound.name].file.location
            if any(at in places or at.startswith(folders) for at in (file, python) if at):
                found[bound.name] = python
        return found

    def _bound(self) -> "list[Bound[Any]]":
        return [*self.registry.tools.values(), *self.registry.skills.values()]

    def look(self, names: Container[str] | None = None) -> tuple[Diagnostic, ...]:
        """Return the diagnostics of files and bindings; only the Python of `names` is imported."""
        found = set(self.registry.diagnostics)
        for name, error in self.snapshot.plugins.broken():
            message = f"{name} can't be loaded, so calls to its folder's tools are denied"
            told = whole_file(name, Code.BROKEN_PLUGIN, message, reason(error))
            line = line_in(error, str(self.settings.root / name))
            found.add(told._replace(span=told.span._replace(line=line, end_line=line)))
        if self.snapshot.plugins.implements("toolmd_dialects"):
            found.update(self.dialects.diagnostics)
        bindings = [b.binding for b in self._bound() if names is None or b.name in names]
        for binding in bindings:
            if binding.start is not None:
                # One that hangs is not waited for: the next begins beside it.
                binding.start(OVERLAP_S)
        broken: dict[Span, Diagnostic] = {}
        for binding in bindings:
            for one in binding.inspect() if binding.inspect is not None else ():
                # A faulty line of a module that several tools import is reported once.
                is_import = one.code is Code.BROKEN_IMPLEMENTATION
                found.add(broken.setdefault(one.span, one) if is_import else one)
        if names is None:
            found.update(self._lone_roles())
        return in_reading_order(found)

    def _lone_roles(self) -> Iterator[Diagnostic]:
        """Yield a hint for each role that occurs once beside others: it may be misspelt."""
        if self.settings.identity.roles:
            return  # An unknown one is an error.
        places: dict[str, list[BoundTool]] = {}
        for bound in self.registry.tools.values():
            for role in roles_of(bound.call_spec):
                places.setdefault(role, []).append(bound)
        often = [role for role, found in places.items() if len(found) > 1]
        for role, (bound, *others) in places.items():
            if often and not others:
                source = bound.call_spec.source
                message = f"the role '{role}' occurs in this file only"
                near = did_you_mean(role, often)
                help_ = near or "list the roles in the settings, [identity] roles, to be sure"
                span = Span(source.path, source.line, 1, source.line, 2)
                yield Diagnostic(span, Code.UNKNOWN_ROLE, Severity.HINT, message, help_)


async def _beside_loop(work: Callable[[], _T]) -> _T:
    """Run what plugins do in a thread that nothing waits for; its import does not block, either."""

    def load() -> Any:
        from toolmd._call.threads import AROUND

        return AROUND

    done: _T = await (await off_loop(load)).run(work)
    return done
