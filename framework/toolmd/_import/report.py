"""Collect the drafts of one source, with a note on each guess and each loss."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from toolmd._import.names import brief, one_line, plain_line, prose, title_of
from toolmd._import.policy import restricting, write_policy
from toolmd._parse import format_text, parse_skill, parse_tool, tool_text
from toolmd._parse.fields.table import section_of
from toolmd._types.call_spec import Rule
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.imported import Draft, Imported, Note
from toolmd._types.schema import KEYWORDS, Parameter, Schema
from toolmd._types.tool import ToolSpec

_BELOW = ("properties", "items", "additionalProperties", "oneOf")


def differences(one: Any, two: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path and a description of each difference between a schema and its copy.

    Args:
        one: The schema of the source.
        two: The schema that a definition keeps.
        path: The dotted path of both.
    """
    if not (isinstance(one, Mapping) and isinstance(two, Mapping)):
        if one != two:
            yield path, f"{brief(one)} became {brief(two)}"
        return
    for keyword in dict.fromkeys([*one, *two]):
        if keyword not in two:
            yield path, f"`{keyword}` is not kept: {brief(one[keyword])}"
        elif keyword not in one:
            yield path, f"`{keyword}` is new: {brief(two[keyword])}"
        elif keyword in _BELOW:
            yield from _below(keyword, one[keyword], two[keyword], path)
        elif json.dumps(one[keyword]) != json.dumps(two[keyword]):
            yield path, f"`{keyword}` {brief(one[keyword])} became {brief(two[keyword])}"


def _below(keyword: str, one: Any, two: Any, path: str) -> Iterator[tuple[str, str]]:
    if keyword == "properties":
        for name in dict.fromkeys([*one, *two]):
            below = f"{path}.{name}" if path else name
            if name in one and name in two:
                yield from differences(one[name], two[name], below)
            else:
                yield below, f"is not kept: {brief(one[name])}" if name in one else "is new"
    elif keyword == "oneOf" and len(one) == len(two):
        for left, right in zip(one, two, strict=True):
            yield from differences(left, right, path)
    elif keyword == "oneOf":
        yield path, f"{len(one)} shapes became {len(two)}: {brief(one)}"
    else:
        yield from differences(one, two, f"{path}{'[]' if keyword == 'items' else '.*'}")


def write_tool(
    spec: ToolSpec,
) -> tuple[Draft | None, list[tuple[str, str]], tuple[Diagnostic, ...]]:
    """Return a tool's draft, what changed in writing with its path, and the diagnostics.

    The draft is None where reading the text finds an error.
    """
    spec = _escape(spec)
    path = f"{spec.name.replace('_', '-')}.tool.md"
    text = tool_text(spec)
    read, found = parse_tool(text, path)
    if read is None or read.input_schema != spec.input_schema:
        # Some prose parses as something else; on one line it can't.
        text = tool_text(_flat(spec))
        read, found = parse_tool(text, path)
    if read is None:
        return None, [], found
    draft = Draft("tool", spec.name, format_text(text, path) or text)
    return draft, _differences_of(spec, read), found


def write_skill(
    name: str, candidates: Iterable[str]
) -> tuple[Draft | None, tuple[Diagnostic, ...]]:
    """Return the first text that reads as a skill without an error, made canonical."""
    path = f"{name.replace('_', '-')}.skill.md"
    found: tuple[Diagnostic, ...] = ()
    for text in candidates:
        read, found = parse_skill(text, path)
        if read is not None:
            return Draft("skill", name, format_text(text, path) or text), found
    return None, found


def known_title(kind: str, title: str) -> str:
    """Return a title for prose: one that the format reads as fields becomes `… notes`."""
    known = section_of(kind, title)
    return f"{title} notes" if known else title


def _escape(spec: ToolSpec) -> ToolSpec:
    """Return the tool with prose that cannot be read as headings, bullets or restrictions."""
    title = plain_line(spec.title) or title_of(spec.name)
    update: dict[str, Any] = {
        "title": title,
        "description": plain_line(spec.description) or f"{title}.",
        "notes": prose(spec.notes),
        "when_to_use": prose(spec.when_to_use),
        "version": plain_line(spec.version),
        "category": plain_line(spec.category),
        "tags": tuple(map(plain_line, spec.tags)),
    }
    update["sections"] = {
        known_title("tool", plain_line(title)): prose(text) for title, text in spec.sections.items()
    }
    update["rules"] = tuple(
        Rule(one_line(rule.expression), one_line(rule.message)) for rule in spec.rules
    )
    update["examples"] = tuple(
        one.model_copy(update={"title": plain_line(one.title)}) for one in spec.examples
    )
    return spec.model_copy(update=update)


def _differences_of(spec: ToolSpec, read: ToolSpec) -> list[tuple[str, str]]:
    """Return the path and a description of what the text says otherwise than the source."""
    return [*differences(_flat(spec).input_schema, _flat(read).input_schema)]


def _flat(spec: ToolSpec) -> ToolSpec:
    """Return the tool with each parameter's description on one line."""
    whole = _flat_shape(Schema(properties=spec.parameters))
    return spec.model_copy(update={"parameters": whole.properties})


def _flat_shape(shape: Schema) -> Schema:
    return replace(shape.with_inner(_flat_shape), description=one_line(shape.description))


_VALUES = ("default", "example")
_KEPT = frozenset(("sensitive", "verbatim", "sent_in", "unit", "discriminator", "example"))
"""Keywords that any value may have; without them a draft would reveal or send something else."""
_BOUNDS = ("enum", *(name for name in KEYWORDS if name not in _KEPT))
_STEPS = (
    _VALUES,
    ("format",),
    ("pattern",),
    (*_VALUES, "format", "pattern"),
    (*_VALUES, *_BOUNDS),
)
"""What is left out of a value, by increasing loss; the first step that helps is taken."""


def fitting(spec: ToolSpec) -> tuple[ToolSpec, list[str]]:
    """Return the tool with only values that a definition can contain.

    Args:
        spec: The tool as an importer read it.

    Returns:
        The tool, and for each value that was reduced a sentence with the reason. The sentences
        restrict: the caller writes them so that the draft fails `check` until somebody decides.
    """
    lost: list[str] = []
    alone = spec.model_copy(
        update={"parameters": (), "rules": (), "examples": (), "implemented_by": ""}
    )

    def fitted(what: str, shape: Schema, tool_with: Callable[[Schema], ToolSpec]) -> Schema:
        if not (reasons := _faults(tool_with(shape))):
            return shape
        fits = (one for one in _reduce(shape) if not _faults(tool_with(one)))
        kept = next(fits, Schema())
        told = differences(shape.json_schema, kept.json_schema, what)
        reasons += [f"{at} {change}" for at, change in told]
        lost.append(f"{what} has less here than in its source: {'; '.join(reasons)}")
        return kept

    def with_result(one: Schema) -> ToolSpec:
        return alone.model_copy(update={"returns": one})

    alone = with_result(fitted("its result", spec.returns, with_result))
    parameters = []
    for parameter in spec.parameters:

        def with_shape(one: Schema, own: Parameter = parameter) -> ToolSpec:
            return alone.model_copy(update={"parameters": (replace(own, shape=one),)})

        shape = fitted(parameter.name, parameter.shape, with_shape)
        parameters.append(replace(parameter, shape=shape))
    update = {"returns": alone.returns, "parameters": tuple(parameters)}
    return spec.model_copy(update=update), lost


def _faults(spec: ToolSpec) -> list[str]:
    """Return the errors of a tool's draft."""
    draft, _, found = write_tool(spec)
    return [] if draft else [d.message for d in found if d.severity is Severity.ERROR]


def _reduce(shape: Schema) -> Iterator[Schema]:
    """Yield the shape with ever less."""
    yield from (_without(shape, names) for names in _STEPS)
    yield Schema(shape.types, shape.description, sensitive=shape.sensitive)


def _without(shape: Schema, names: Collection[str]) -> Schema:
    """Return a schema without these attributes, at any depth."""
    plain = Schema()
    update: dict[str, Any] = {name: getattr(plain, name) for name in names}
    update |= {f"has_{name}": False for name in names if name in _VALUES}
    return replace(shape.with_inner(lambda one: _without(one, names)), **update)


class ImportReport:
    """The result of an import, collected while the importer reads the source.

    Every draft is written in canonical form and parsed again; it has no error but for a
    restriction of the source that no field expresses.
    """

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        """The definitions so far, in the order of the source."""
        self.notes: list[Note] = []
        """The guesses and losses so far."""
        self.rejected: list[Note] = []
        """Entries that could not become a definition, with the reason."""

    def note(self, definition: str, path: str, text: str, line: int = 0) -> None:
        """Add a note, unless the same one is there already.

        Args:
            definition: The tool or skill; empty for the whole source.
            path: The parameter, dotted; empty for the whole definition.
            text: What was guessed, weakened or left out.
            line: Its line in the source, from 1; 0 where there is none.
        """
        note = Note(definition, path, text, line)
        if note not in self.notes:
            self.notes.append(note)

    def reject(self, definition: str, text: str, line: int = 0) -> None:
        """Add something that could not be imported.

        Args:
            definition: The name of the tool or skill.
            text: The reason.
            line: The line in the source; 0 if it has none.
        """
        self.rejected.append(Note(definition, "", text, line))

    def add_tool(
        self, spec: ToolSpec, line: int = 0, policy: Iterable[tuple[str, Any]] = ()
    ) -> None:
        """Add a tool as a draft, its prose escaped so that none of it is read as a field.

        A second tool of the same name is rejected, and so is an invalid one. Parts that the text
        can't express exactly are noted. A value that no definition can contain is reduced, and
        the draft fails `check` until somebody has decided about it.

        Args:
            spec: The tool as the importer read it.
            line: Its line in the source, from 1; 0 where there is none.
            policy: Keys of the source that restrict calls, with their values: each becomes the
                field that it names. `check` rejects the draft where it can't read the field.
        """
        if self._is_taken(spec.name, "tool", line):
            return
        draft, changed, found = write_tool(spec)
        if any(one.code == Code.FILE_TOO_LARGE for one in found):
            returns = Schema(types=spec.returns.types, description=spec.returns.description)
            bare = spec.model_copy(update={"returns": returns})
            draft, changed, found = write_tool(bare)
            if draft is not None:
                self.note(spec.name, "", "the fields of its result are left out: too many", line)
        lost: list[str] = []
        if draft is None:
            spec, lost = fitting(spec)
            draft, changed, _ = write_tool(spec) if lost else (None, [], ())
        if draft is None:
            self._reject_invalid(spec.name, found, line)
            return
        for path, text in changed:
            self.note(spec.name, path, text, line)
        self._add(draft, [*policy, *(("", text) for text in lost)], line)

    def add_skill(
        self, name: str, candidates: Iterable[str], policy: Iterable[tuple[str, Any]] = ()
    ) -> bool:
        """Add the first text that reads as a skill without an error; return whether one does.

        Args:
            name: The skill.
            candidates: Its texts, the best first.
            policy: Keys of the source that restrict, with their values, as for a tool.
        """
        if self._is_taken(name, "skill", 0):
            return False
        draft, found = write_skill(name, candidates)
        if draft is None:
            self._reject_invalid(name, found, 0)
            return False
        self._add(draft, list(policy), 0)
        return True

    def _add(self, draft: Draft, policy: list[tuple[str, Any]], line: int) -> None:
        """Add a draft with the fields of its policy; note what somebody must decide."""
        if policy:
            text = write_policy(draft.text, policy, draft.kind)
            path = f"{draft.name.replace('_', '-')}.{draft.kind}.md"
            read, found = (
                parse_tool(text, path) if draft.kind == "tool" else parse_skill(text, path)
            )
            draft = draft._replace(text=text if read is None else format_text(text, path) or text)
            for one in found if read is None else ():
                if one.severity is Severity.ERROR:
                    said = text.split("\n")[one.span.line - 1].lstrip("- ").replace("**", "")
                    self.note(draft.name, "", f"`check` fails until you decide: {said}", line)
        self.drafts.append(draft)

    def close(self) -> Imported:
        """Return everything that was gathered."""
        return Imported(tuple(self.drafts), tuple(self.notes), tuple(self.rejected))

    def note_unread(
        self, name: str, unread: Mapping[str, Any], line: int = 0
    ) -> list[tuple[str, Any]]:
        """Note each key that an importer does not read, and return what restricts among them.

        Args:
            name: The tool or skill; empty for the whole source.
            unread: The keys and their values.
            line: Its line in the source; 0 if it has none.

        Returns:
            The keys that restrict, at any depth, with their values: a policy for `add_tool`.
        """
        policy = []
        for key, value in unread.items():
            policy += (found := list(restricting({key: value})))
            if value is not None and found != [(key, value)]:
                self.note(name, "", f"`{key}` is not kept: {brief(value)}", line)
        return policy

    def _is_taken(self, name: str, kind: str, line: int) -> bool:
        taken = any(draft.name == name and draft.kind == kind for draft in self.drafts)
        if taken:
            self.reject(name, f"a second {kind} of this name; the first one was taken", line)
        return taken

    def _reject_invalid(self, name: str, found: tuple[Diagnostic, ...], line: int) -> None:
        errors = [d.message for d in found if d.severity is Severity.ERROR]
        self.reject(name, f"a definition can't contain it: {'; '.join(errors[:3])}", line)
