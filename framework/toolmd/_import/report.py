"""Collect the drafts of one source, with a note on each guess and each loss."""

from collections.abc import Iterable, Mapping
from typing import Any

from toolmd._import.differences import shown
from toolmd._import.finish import finished_skill, finished_tool
from toolmd._import.policy import restricting, write_policy
from toolmd._import.unfit import fitting
from toolmd._parse import format_text, parse_skill, parse_tool
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.imported import Draft, Imported, Note
from toolmd._types.schema import Schema
from toolmd._types.tool import ToolSpec


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
        draft, changed, found = finished_tool(spec)
        if any(one.code == Code.FILE_TOO_LARGE for one in found):
            returns = Schema(types=spec.returns.types, description=spec.returns.description)
            bare = spec.model_copy(update={"returns": returns})
            draft, changed, found = finished_tool(bare)
            if draft is not None:
                self.note(spec.name, "", "the fields of its result are left out: too many", line)
        lost: list[str] = []
        if draft is None:
            spec, lost = fitting(spec)
            draft, changed, _ = finished_tool(spec) if lost else (None, [], ())
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
        draft, found = finished_skill(name, candidates)
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
                self.note(name, "", f"`{key}` is not kept: {shown(value)}", line)
        return policy

    def _is_taken(self, name: str, kind: str, line: int) -> bool:
        taken = any(draft.name == name and draft.kind == kind for draft in self.drafts)
        if taken:
            self.reject(name, f"a second {kind} of this name; the first one was taken", line)
        return taken

    def _reject_invalid(self, name: str, found: tuple[Diagnostic, ...], line: int) -> None:
        errors = [d.message for d in found if d.severity is Severity.ERROR]
        self.reject(name, f"a definition can't contain it: {'; '.join(errors[:3])}", line)
