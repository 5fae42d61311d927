"""Collect the drafts of one source, with a note on each guess and each loss."""

from collections.abc import Iterable, Mapping

from toolmd._import.finish import finished_skill, finished_tool
from toolmd._import.text import plain_line
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

    def __init__(self, style: str = "long") -> None:
        """`style` is the form of the parameters: `long` or `compact`."""
        self._style = style
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
        self, spec: ToolSpec, line: int = 0, unread: Mapping[str, str] | None = None
    ) -> None:
        """Add a tool as a draft, its prose escaped so that none of it is read as a field.

        A second tool of the same name is rejected, and so is an invalid one. Parts that the text
        can't express exactly are noted.

        Args:
            spec: The tool as the importer read it.
            line: Its line in the source, from 1; 0 where there is none.
            unread: Restrictions that no field expresses: the draft has an error for each.
        """
        if self._is_taken(spec.name, "tool", line):
            return
        draft, changed, found = finished_tool(spec, self._style)
        if any(one.code == Code.FILE_TOO_LARGE for one in found):
            returns = Schema(types=spec.returns.types, description=spec.returns.description)
            bare = spec.model_copy(update={"returns": returns})
            draft, changed, found = finished_tool(bare, self._style)
            if draft is not None:
                self.note(spec.name, "", "the fields of its result are left out: too many", line)
        if draft is None:
            self._reject_invalid(spec.name, found, line)
            return
        for path, text in changed:
            self.note(spec.name, path, text, line)
        self.drafts.append(_with_fields(draft, unread or {}))

    def add_skill(
        self, name: str, candidates: Iterable[str], unread: Mapping[str, str] | None = None
    ) -> bool:
        """Add the first text that reads as a skill without an error; return whether one does.

        Args:
            name: The skill.
            candidates: Its texts, the best first.
            unread: Restrictions that no field expresses: they are written as fields, so that the
                draft has an error until somebody has decided.
        """
        if self._is_taken(name, "skill", 0):
            return False
        draft, found = finished_skill(name, candidates)
        if draft is None:
            self._reject_invalid(name, found, 0)
            return False
        self.drafts.append(_with_fields(draft, unread or {}))
        return True

    def close(self) -> Imported:
        """Return everything that was gathered."""
        return Imported(tuple(self.drafts), tuple(self.notes), tuple(self.rejected))

    def _is_taken(self, name: str, kind: str, line: int) -> bool:
        taken = any(draft.name == name and draft.kind == kind for draft in self.drafts)
        if taken:
            self.reject(name, f"a second {kind} of this name; the first one was taken", line)
        return taken

    def _reject_invalid(self, name: str, found: tuple[Diagnostic, ...], line: int) -> None:
        errors = [d.message for d in found if d.severity is Severity.ERROR]
        self.reject(name, f"a definition can't contain it: {'; '.join(errors[:3])}", line)


def _with_fields(draft: Draft, fields: Mapping[str, str]) -> Draft:
    """Write fields first below Metadata; a key that no field has is an error of the draft."""
    head, heading, rest = draft.text.partition("## Metadata\n")
    blank = "\n" if rest.startswith("\n") else ""
    lines = "".join(f"- **{key}**: {plain_line(text)}\n" for key, text in fields.items())
    return draft._replace(text=f"{head}{heading}{blank}{lines}{rest.removeprefix(blank)}")
