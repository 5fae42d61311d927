"""Collect the drafts of one source, with a note on each guess and each loss."""

from collections.abc import Iterable, Mapping
from typing import Any

from toolmd._import.differences import shown
from toolmd._import.finish import finished_skill, finished_tool
from toolmd._import.leftovers import RESPONSES, leftovers, lost_lines
from toolmd._import.names import RESULTS
from toolmd._import.restricting import restricts_calls
from toolmd._import.text import plain_line
from toolmd._import.unfit import fitting
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.imported import RESTRICTION, Draft, Imported, Note, undecided
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
        self._doubts: dict[str, list[str]] = {}
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

    def doubt(self, definition: str, text: str) -> None:
        """Add something about a tool that somebody must decide before `check` passes.

        Args:
            definition: The tool; it is added afterwards.
            text: A sentence that states what to decide.
        """
        self._doubts.setdefault(definition, []).append(text)

    def reject(self, definition: str, text: str, line: int = 0) -> None:
        """Add something that could not be imported.

        Args:
            definition: The name of the tool or skill.
            text: The reason.
            line: The line in the source; 0 if it has none.
        """
        self.rejected.append(Note(definition, "", text, line))

    def add_tool(
        self,
        spec: ToolSpec,
        line: int = 0,
        restrictions: Iterable[str] = (),
        source: tuple[Any, Any] | None = None,
        guesses: Iterable[str] = (),
    ) -> None:
        """Add a tool as a draft, its prose escaped so that none of it is read as a field.

        A second tool of the same name is rejected, and so is an invalid one. Parts that the text
        can't express exactly are noted. A value that no definition can contain is reduced, and
        the draft fails `check` until somebody has decided about it.

        Args:
            spec: The tool as the importer read it.
            line: Its line in the source, from 1; 0 where there is none.
            restrictions: Sentences that restrict calls, and that no field expresses: each becomes
                a line below Metadata, which `check` rejects until somebody has replaced it.
            source: The JSON of the tool, and the document in which its references lead; what
                neither the draft nor a note has of it is noted.
            guesses: What a model guessed: lines that `check` rejects, too, until somebody looked.
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
            source = source and ({**source[0], **dict.fromkeys(RESULTS)}, source[1])
        lost: list[str] = []
        if draft is None:
            spec, lost = fitting(spec)
            draft, changed, _ = finished_tool(spec, self._style) if lost else (None, [], ())
        if draft is None:
            self._reject_invalid(spec.name, found, line)
            return
        for path, text in changed:
            self.note(spec.name, path, text, line)
        doubts = self._doubts.pop(spec.name, ())
        texts = [plain_line(text) for text in (*restrictions, *doubts, *lost)]
        if source is not None:
            texts += self.note_leftovers(spec.name, source, draft.text, line)
        open_ones = self._open(spec.name, line, dict.fromkeys(texts), map(plain_line, guesses))
        self.drafts.append(_with_fields(draft, open_ones))

    def _open(
        self, name: str, line: int, texts: Iterable[str], guesses: Iterable[str]
    ) -> dict[str, str]:
        """Note what somebody must decide, and return it by the keys of its fields."""
        fields = {}
        for number, text in enumerate(texts, 1):
            self.note(name, "", undecided(text), line)
            fields[f"{RESTRICTION} {number}"] = text
        for number, text in enumerate(guesses, 1):
            noted = f"a model guessed that {text}: `check` fails until you decide"
            self.note(name, "", noted, line)
            fields[f"Guessed {RESTRICTION} {number}"] = text
        return fields

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

    def note_leftovers(
        self, name: str, source: tuple[Any, Any], text: str = "", line: int = 0
    ) -> list[str]:
        """Note the texts of a source that neither a draft nor a note has.

        Args:
            name: The tool; empty for the whole source.
            source: A JSON value, and the document in which its references lead.
            text: The draft.
            line: Its line in the source; 0 if it has none.

        Returns:
            The sentences that restrict calls, which are not noted.
        """
        notes = [f"{one.path} {one.text}" for one in self.notes if one.definition in {name, ""}]
        found: dict[str, list[str]] = {}
        restrictions = []
        for place, keyword, one in leftovers(*source, "\n".join([text, *notes])):
            if keyword != RESPONSES and restricts_calls(one):
                restrictions.append(plain_line(one))
            else:
                found.setdefault(keyword, []).append(f"{place}: {one}" if place else one)
        for keyword, texts in found.items():
            self.note(name, "", f"`{keyword}` is not kept: {shown('; '.join(texts))}", line)
        return restrictions

    def note_lost_lines(self, name: str, text: str) -> None:
        """Note each line of a skill's source that neither its draft nor a note has.

        Args:
            name: The skill, which was added last.
            text: The source.
        """
        said = "\n".join([self.drafts[-1].text, *(note.text for note in self.notes)])
        for number, line in lost_lines(text, said):
            self.note(name, "", f"not kept: {shown(line)}", number)

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
