"""Nest the fields of objects with dotted names: `range.start`, `rows[].name`."""

from toolmd._parse.parameters.drafts import ParameterDraft
from toolmd._parse.source.page import Mark, Page
from toolmd._types.code import Code

_MAX_DOTS = 32


def nest_dotted(page: Page, drafts: list[ParameterDraft]) -> list[ParameterDraft]:
    """Move `range.start` into `range`, and `rows[].name` into the items of `rows`."""
    roots: list[ParameterDraft] = []
    for draft in drafts:
        draft.drafts = nest_dotted(page, draft.drafts)
        path = draft.name.text.replace("[]", ".[]")
        steps = (path[1:] if path.startswith(".[]") else path).split(".")
        if len(steps) > _MAX_DOTS:
            page.error(
                Code.NESTED_TOO_DEEP,
                draft.name.at(0, 40),
                f"a name with more than {_MAX_DOTS} parts nests too deep",
                "make the object flatter",
            )
            continue
        if len(steps) == 1:
            roots.append(draft)
            continue
        _place(roots, steps, draft)
    return roots


def _place(level: list[ParameterDraft], steps: list[str], draft: ParameterDraft) -> None:
    for step in steps[:-1]:
        owner = next((d for d in level if d.name.text == step), None)
        if owner is None:
            owner = ParameterDraft(Mark(step, draft.name.line, draft.name.column), written=False)
            level.append(owner)
        level = owner.drafts
    draft.name = Mark(steps[-1], draft.name.line, draft.name.column)
    held = next((d for d in level if d.name.text == draft.name.text), None)
    if held is not None and not held.entries:
        held.name, held.entries, held.notes = draft.name, draft.entries, draft.notes
        held.drafts += draft.drafts
        held.questioned, held.written = draft.questioned, True
        return
    level.append(draft)
