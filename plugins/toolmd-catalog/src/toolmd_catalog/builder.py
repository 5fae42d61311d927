"""Build one tool of a catalogue from its parts."""

import re
from dataclasses import dataclass, field, replace
from typing import Any

from toolmd import Parameter, Schema, Source, ToolSpec
from toolmd.importing import ImportReport, problems, read_function, restricts, tool_name
from toolmd_catalog.arguments import KnownArguments
from toolmd_catalog.defaults import Defaults
from toolmd_catalog.guesses import OpenArguments
from toolmd_catalog.layout.entries import ToolEntry
from toolmd_catalog.layout.page import Page
from toolmd_catalog.layout.spans import TextSpan, fences, sentences, text_of
from toolmd_catalog.leftovers import leftovers
from toolmd_catalog.notes import head, labels, sections
from toolmd_catalog.parameters.calls import Shown
from toolmd_catalog.parameters.code import CodeBlocks, read_code
from toolmd_catalog.policy.demands import Count, Policy
from toolmd_catalog.policy.intent import keywords
from toolmd_catalog.policy.rules import condition_of
from toolmd_catalog.policy.statements import read_sentence
from toolmd_catalog.returns import UNTOLD, read_returns
from toolmd_catalog.words import clean, fold, one_line

_NO_CATEGORY = "no category in the source: `general`"
_NO_VERSION = "no version in the source: `1.0.0`"
_POLICY_ROLES = ("safety", "limits", "notes", "other")
_SHORT = 10
"""Longest sentence, in words, that a field can replace completely."""
_SHOWN = 100
_RETURNS = re.compile(r"returns?\s*:\s*(?P<what>.+)", re.IGNORECASE | re.DOTALL)


@dataclass(slots=True)
class ToolBuilder:
    """One tool under construction."""

    page: Page
    entry: ToolEntry
    name: str
    defaults: Defaults
    report: ImportReport
    shown: Shown
    """What example calls of it name, anywhere on the page."""
    input: dict[str, Any] | None
    """The arguments that the page shows as an example of its input."""
    code: CodeBlocks = field(default_factory=CodeBlocks)
    policy: Policy = field(default_factory=Policy)
    kept: list[str] = field(default_factory=list)
    """Sentences without a field."""
    restrictions: list[str] = field(default_factory=list)
    """Texts that restrict calls and that no field expresses."""
    returned: str = ""
    """What a sentence says about the result."""
    left_open: OpenArguments = field(default_factory=OpenArguments)
    """What a model may add."""
    arguments: KnownArguments = field(init=False)

    def __post_init__(self) -> None:
        """Read the parameters."""
        self.code = read_code([f for s in self.entry.spans for f in fences(s)])
        self.arguments = KnownArguments(
            self.page,
            self.entry,
            self.name,
            self.code,
            self.defaults,
            self.note,
            self.shown,
            self.input,
        )
        self.arguments.read()

    def note(self, path: str, text: str, line: int = 0) -> None:
        """Write a note on this tool."""
        self.report.note(self.name, path, text, line or self.entry.line)

    def spec(self) -> ToolSpec | None:
        """Build the tool; None where its schema can't be read."""
        said, arguments = self._schema(), self.arguments
        said.setdefault("parameters", ())
        if not said["parameters"]:
            said["parameters"] = arguments.parameters()
            self.left_open = arguments.left_open()
        said |= self._head(said)
        self._policies(said)
        said["returns"] = self._returns()
        rules = [rule._asdict() for rule in arguments.rules(said["parameters"])]
        said["rules"] = (*said.get("rules", ()), *rules)
        said["limits"] = self._limits(said)
        said["safety"] = self._safety(said["parameters"])
        said["examples"] = self._examples(said, arguments.calls)
        unread = [text for text, _ in arguments.gathered.unread]
        kept = [*unread, *self.kept]
        said["sections"] = sections(self.entry, kept)
        if lost := self._lost(said):
            said["sections"] = sections(self.entry, [*kept, *lost])
        self.restrictions += [
            text
            for text in (*unread, *lost)
            if restricts(text) and not read_sentence(Policy(), text, self.entry.line)
        ]
        said |= {"category": "general", "version": "1.0.0"}
        said |= self.policy.facts | labels(self.entry)
        for key, words in (("category", _NO_CATEGORY), ("version", _NO_VERSION)):
            if key not in self.policy.facts and key not in labels(self.entry):
                self.report.note("", "", words)
        said |= {"name": self.name, "source": Source("", 1)}
        return ToolSpec(**said)

    def _schema(self) -> dict[str, Any]:
        """Return the tool exactly as a schema in its code states it; empty where none does."""
        for function, line in self.code.functions:
            if tool_name(function["name"]) == self.name:
                return self._from_schema(function, line, ())
        inputs = [f for s in self.entry.of("parameters") for f in fences(s)]
        for schema, line in read_code(inputs).schemas:
            only = ("parameters", "rules", "unknown_parameters")
            return self._from_schema({"parameters": schema, "description": "-"}, line, only)
        return {}

    def _from_schema(self, function: Any, line: int, only: tuple[str, ...]) -> dict[str, Any]:
        said = read_function({**function, "name": self.name}, self.name, self.report, line=line)
        left = {k: v for k, v in (said or {}).items() if k not in {"name", "source"}}
        return {k: v for k, v in left.items() if not only or k in only}

    def _head(self, said: dict[str, Any]) -> dict[str, Any]:
        own = [s.words for s in self.code.signatures if fold(s.name) == fold(self.name)]
        words = self.defaults.summaries.words.get(self.name, "")
        made = head(self.entry, self.name, said, [*own, words])
        if not made["description"]:
            made["description"] = f"{made['title']}."
            self.note("", "no description in the catalogue: the name was used")
        return made

    def _policies(self, said: dict[str, Any]) -> None:
        for role in _POLICY_ROLES:
            for span in self.entry.of(role):
                self._policy(span)
        words = self.defaults.summaries.words.get(self.name, "")
        for text in (said["description"], said["when_to_use"], self.entry.heading.words, words):
            self._own_words(text)
        row = self.defaults.summaries.policies.get(self.name)
        if row is not None:
            line = self.defaults.summaries.lines[self.name]
            for key, value in row.safety.items():
                self.policy.restrict(key, line, value=value)
            self.policy.guesses += row.guesses
            self.policy.take(row)
        self.policy.take(self.defaults.policy)

    def _policy(self, span: TextSpan) -> None:
        """Read a span's sentences; those without a field are kept as prose."""
        for text, line in sentences(span):
            label = span.label if text == span.text else ""
            whole = f"{label}: {text}" if label and span.role in {"safety", "limits"} else text
            returned = _RETURNS.match(clean(text))
            if returned:
                self.returned = self.returned or one_line(returned["what"])
                continue
            before = self.policy.condition
            read = read_sentence(self.policy, whole, line)
            guessed = self.policy.condition is not before
            plain = read and len(text.split()) < _SHORT and not guessed
            if span.role in {"safety", "limits"} and not plain:
                self.kept.append(text)
            if restricts(text) and not read:
                self.restrictions.append(text)

    def _own_words(self, text: str) -> None:
        """Read restrictions from a description; sections about policy have priority."""
        trial = Policy()
        if text and read_sentence(trial, text, self.entry.line):
            self.policy.intents += trial.intents
            self.policy.condition = self.policy.condition or trial.condition
            self.policy.take(trial)

    def _returns(self) -> Schema:
        gives = self.entry.heading.signature.partition(" -> ")[2]
        own = [s.gives for s in self.code.signatures if fold(s.name) == fold(self.name)]
        returns, guess = read_returns(self.page, self.entry, gives or next(iter(own), ""))
        if returns.description == UNTOLD and self.returned:
            returns = replace(returns, description=self.returned)
            guess = "the text has no type of the result: any value" if not returns.types else guess
        if guess:
            self.note("", guess)
        return returns

    def _lost(self, said: dict[str, Any]) -> list[str]:
        """Return the texts that are neither in the draft nor in a note, and note them."""
        notes = [note.text for note in self.report.notes if note.definition == self.name]
        drafted = f"{self.name} {self.entry.heading} {said} {notes}"
        lost = leftovers(self.entry, drafted, [p.name for p in said["parameters"]])
        for text, line in lost:
            self.note("", f"no field holds {text[:_SHOWN]!r}: it is kept as a note", line)
        return [text for text, _ in lost]

    def _limits(self, said: dict[str, Any]) -> dict[str, Any]:
        for count in self.policy.counts:
            said["parameters"] = self._count(count, said["parameters"])
        return dict(self.policy.limits)

    def _count(self, count: Count, parameters: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
        """Apply `Max 50 codes per request` to its target: a batch, or the items of a list."""
        arrays = [p for p in parameters if "array" in p.shape.types]
        word = count.of.rstrip("s")
        named = [p for p in arrays if word in {p.name.rstrip("s"), *p.name.rstrip("s").split("_")}]
        chosen = named or (arrays if len(arrays) == 1 and count.splits else [])
        if not chosen:
            if count not in self.defaults.policy.counts:
                self.note("", f"{count.words!r} names no list of this tool: it is not kept")
            return parameters
        one = chosen[0]
        if count.splits:
            self.policy.limits.setdefault("max_batch", {"parameter": one.name, "size": count.most})
            if not named:
                self.note(one.name, f"{count.words!r} is read as a limit of this list")
            return parameters
        shape = replace(one.shape, max_items=count.most)
        self.note(one.name, f"at most {count.most}, from {count.words!r}")
        return tuple(replace(p, shape=shape) if p is one else p for p in parameters)

    def _safety(self, parameters: tuple[Parameter, ...]) -> dict[str, Any]:
        for text, line in self.policy.guesses:
            self.note("", text, line)
        said = dict(self.policy.safety)
        if self.policy.condition is not None:
            expression = condition_of(self.policy.condition, parameters)
            if expression is None:
                said["requires_confirmation"] = True
                self.note("", "the condition of the confirmation can't be computed: always asked")
            else:
                said["confirm_when"] = expression
                self.note("", f"Confirm When was guessed: {expression}")
        if said.get("explicit_intent"):
            asking = [*self.policy.intents, *(text_of(s) for s in self.entry.of("when"))]
            said["intent_keywords"] = keywords(self.name, asking)
            words = ", ".join(said["intent_keywords"])
            self.note("", f"Intent Keywords were guessed, and allow calls: {words}")
        return said

    def _examples(self, said: dict[str, Any], calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
        made = []
        shape = Schema(types=("object",), properties=said["parameters"])
        for number, arguments in enumerate(calls, 1):
            wrong = problems(arguments, shape)
            if wrong and said.get("unknown_parameters") != "ignore":
                noted = f"an example does not fit the tool: left out: {wrong[0].message}"
                self.note("", noted)
                continue
            title = "Example" if len(calls) == 1 else f"Example {number}"
            made.append({"title": title, "arguments": arguments})
        return made
