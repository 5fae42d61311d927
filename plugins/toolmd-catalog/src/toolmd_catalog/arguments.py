"""Combine a tool's parameters from its lists, its code, its examples and shared ones."""

from dataclasses import dataclass, field
from typing import Any

from toolmd import Parameter
from toolmd_catalog.defaults import Defaults
from toolmd_catalog.guesses import OpenArguments
from toolmd_catalog.layout.entries import ToolEntry
from toolmd_catalog.layout.page import Page
from toolmd_catalog.layout.spans import fences
from toolmd_catalog.parameters.calls import Shown
from toolmd_catalog.parameters.code import CodeBlocks, read_code, read_signature
from toolmd_catalog.parameters.gather import Gathered, gather
from toolmd_catalog.parameters.needs import settle
from toolmd_catalog.phrases.found import AddNote, Namesake, ParameterFound
from toolmd_catalog.phrases.hints import is_option
from toolmd_catalog.policy.rules import Rule, choice, compared
from toolmd_catalog.words import fold

_FIRST = 2
"""How many of an example's arguments count as required; the later ones are mostly optional."""


@dataclass(slots=True)
class KnownArguments:
    """The known arguments of one tool."""

    page: Page
    entry: ToolEntry
    name: str
    code: CodeBlocks
    defaults: Defaults
    note: AddNote
    shown: Shown
    """What example calls name, anywhere on the page."""
    input: dict[str, Any] | None
    """The arguments that the page shows as an example of its input."""
    gathered: Gathered = field(default_factory=Gathered)
    calls: list[dict[str, Any]] = field(default_factory=list)
    """The arguments of each call in the text."""
    declared: bool = False
    """Whether code states them all."""

    def read(self) -> None:
        """Read every place that describes them."""
        self.calls = [call.arguments for call in self.code.calls if call.tool == self.name]
        shown = self._objects("example")
        self.gathered = gather(self.page, self.entry, [*self.calls, *shown])
        self._declare()
        known = {fold(name) for name in self.gathered.found}
        # An object under `Example` may also be a response, so its keys must be known.
        self.calls += [value for value in shown if value and {fold(k) for k in value} <= known]
        self.gathered.listed = self.gathered.listed and bool(known)
        if not self.gathered.listed and not self.calls:
            self.calls = _alike([*self._objects("parameters", "", "other"), *shown])
        if not self.gathered.listed and not self.calls and self.input is not None:
            self.calls = [self.input]
        self._from_calls()
        self._from_page()
        self._shared()
        for one in self.gathered.found.values():
            one.whole = self.defaults.whole

    def _objects(self, *roles: str) -> list[dict[str, Any]]:
        """Return the objects in the code below labels of these roles."""
        spans = [span for role in roles for span in self.entry.of(role)]
        return [value for value, _ in read_code([f for s in spans for f in fences(s)]).plain]

    def parameters(self) -> tuple[Parameter, ...]:
        """Return the parameters; note every guess."""
        gathered = self.gathered
        for text, line in gathered.unread:
            self.note("", f"no parameter could be read from {text!r}: it is kept as a note", line)
        if not gathered.found and not gathered.none_said and not gathered.listed:
            self.note("", "the text describes no parameters: none", self.entry.line)
        return tuple(one.parameter(self.note) for one in gathered.found.values())

    def left_open(self) -> OpenArguments:
        """Return what neither the text nor code says of them."""
        found = self.gathered.found.values()
        return OpenArguments(
            frozenset(one.name for one in found if one.is_untyped),
            frozenset(one.name for one in found if not one.need and one.guessed_need),
            more=not (self.declared or self.gathered.none_said),
        )

    def rules(self, parameters: tuple[Parameter, ...]) -> list[Rule]:
        """Return the conditions between them."""
        held = {p.name: p for p in parameters}
        made: list[Rule] = []
        for one in self.gathered.found.values():
            for relation in one.relations:
                other = next((n for n in held if fold(n) == fold(relation.other)), "")
                rule = compared(held.get(one.name), held.get(other), relation.sign)
                if rule is None:
                    noted = f"{relation.words!r} is not a rule: the two can't be compared"
                    self.note(one.name, noted, one.line)
                else:
                    made.append(rule)
        for sides, how in self.gathered.choices:
            names = [name for side in sides for name in side]
            if all(name in held for name in names):
                made.append(choice(sides, how))
                noted = f"several shapes: a rule says which of {', '.join(names)} to give"
                self.note("", noted, self.entry.line)
        return list(dict.fromkeys(made))

    def _declare(self) -> None:
        """Add what the heading's signature, a function's, or an interface declares."""
        inside = self.entry.heading.signature.partition(" -> ")[0]
        declared = read_signature(inside, self.entry.line)
        for signature in self.code.signatures:
            if fold(signature.name) == fold(self.name):
                declared += signature.found
        for interface in self.code.fields:
            declared += interface
        settle(declared, code=True)
        self.declared = bool(declared)
        listed, self.gathered.found = self.gathered.found, {}
        self.gathered.add(declared)
        for name, one in listed.items():
            twin = self.gathered.found.get(name)
            if twin is None:
                self.gathered.found[name] = one
                continue
            if one.guessed_need:
                one.need = None
            twin.take(one)
        self.gathered.listed = self.gathered.listed or bool(declared)

    def _from_calls(self) -> None:
        """Read names and types from the example calls."""
        found = self.gathered.found
        by_fold = {fold(name): one for name, one in found.items()}
        for arguments in self.calls:
            for at, (key, value) in enumerate(arguments.items()):
                one = by_fold.get(fold(key))
                if one is None and self.gathered.none_said:
                    noted = "in an example, though the text says there are none: left out"
                    self.note(key, noted, self.entry.line)
                    continue
                if one is None:
                    one = by_fold[fold(key)] = found[key] = self._only_shown(key, value, at)
                one.name = key
                one.samples = one.samples or [value]

    def _from_page(self) -> None:
        """Add what only the example calls of the page name; where all are listed, types alone."""
        found = self.gathered.found
        by_fold = {fold(name): one for name, one in found.items()}
        closed = self.declared or self.gathered.listed or self.gathered.none_said
        for key, shown in self.shown.items():
            one = by_fold.get(fold(key))
            if one is not None:
                one.show(shown)
            elif closed:
                noted = "in an example, though the text lists the parameters without it: left out"
                self.note(key, noted, shown.line)
            else:
                shown.guesses.append("only an example has it: optional")
                by_fold[fold(key)] = found[key] = shown

    def _only_shown(self, key: str, value: Any, at: int) -> ParameterFound:
        always = all(key in arguments for arguments in self.calls)
        first = at < _FIRST and not is_option(key, value)
        need = always and first and not self.gathered.listed
        one = ParameterFound(key, self.entry.line, key, marked=True, need=need)
        one.guesses.append(f"only an example has it: {'required' if need else 'optional'}")
        return one

    def _shared(self) -> None:
        """Complete the parameters from the shared ones of the catalogue."""
        found = self.gathered.found
        for name, shared in self.defaults.shared.items():
            own = next((one for one in found.values() if fold(one.name) == fold(name)), None)
            if own is not None:
                own.take(shared)
            elif self.defaults.everywhere and not self.gathered.none_said:
                copy = ParameterFound(name, shared.line, shared.label)
                copy.take(shared)
                copy.guesses.append("shared by every tool of the catalogue")
                found[name] = copy


def compare_namesakes(tools: list[KnownArguments]) -> None:
    """Keep for each parameter the types of its namesakes in other tools, where they agree."""
    typed: dict[str, list[Namesake]] = {}
    for tool in tools:
        for one in tool.gathered.found.values():
            if not one.is_untyped:
                typed.setdefault(fold(one.name), []).append(Namesake(one.typed[0], tool.name))
    agreed = {name: same[0] for name, same in typed.items() if len({o.types for o in same}) == 1}
    for tool in tools:
        for one in tool.gathered.found.values():
            one.namesake = agreed.get(fold(one.name))


def _alike(shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the first of several objects and those that share a key: others may be results."""
    return [value for value in shown if value is shown[0] or value.keys() & shown[0].keys()]
