"""The notes of one tool: title, description, when to use it, and the prose that no field holds."""

from typing import Any

from toolmd.importing import title_of
from toolmd_catalog.layout.blocks import Paragraph
from toolmd_catalog.layout.entries import ToolEntry
from toolmd_catalog.layout.spans import sentences, text_of
from toolmd_catalog.parameters.lines import says_none
from toolmd_catalog.words import clean, first_and_rest, one_line

REMARKS = "Remarks"


def head(entry: ToolEntry, name: str, said: dict[str, Any], others: list[str]) -> dict[str, Any]:
    """Return title, description and when to use; the description is empty where there is none.

    `said` is what a schema in code has given already, `others` are texts that stand elsewhere.
    """
    heading = entry.heading
    paragraphs = [text_of(span) for span in entry.of("purpose")] + _unlabelled(entry)
    noted = [*paragraphs, said.get("description", ""), heading.words, *others]
    noted = [text for text in noted if text and text != "-"]
    first, more = first_and_rest(clean(noted[0])) if noted else ("", "")
    rest = [more, *paragraphs[1:], *(text_of(span) for span in entry.of("when"))]
    when = [clean(text) for text in rest if text]
    when += [said["when_to_use"]] if said.get("when_to_use") else []
    return {
        "title": title_of(name) if heading.strong else heading.name,
        "description": first,
        "when_to_use": "\n\n".join(dict.fromkeys(when)),
    }


def _unlabelled(entry: ToolEntry) -> list[str]:
    return [
        " ".join(block.mark.text.split())
        for span in entry.of("")
        for block in span.blocks
        if isinstance(block, Paragraph) and not says_none(block.mark.text)
    ]


def sections(entry: ToolEntry, kept: list[str]) -> dict[str, str]:
    """Return the prose that no field holds, under its labels."""
    made: dict[str, str] = {}
    for role in ("notes", "other"):
        for span in entry.of(role):
            texts = [text for text, _ in sentences(span)]
            if texts and span.label:
                body = texts[0] if len(texts) == 1 else "\n".join(f"- {text}" for text in texts)
                made.setdefault(_title(span.label), clean(body))
    if kept:
        body = "\n".join(f"- {clean(text)}" for text in dict.fromkeys(kept))
        made[REMARKS] = f"{made[REMARKS]}\n\n{body}" if REMARKS in made else body
    return made


def _title(label: str) -> str:
    return one_line(clean(label)).strip(":") or REMARKS


def labels(entry: ToolEntry) -> dict[str, Any]:
    """Return title, category, version and tags where the tool's own labels name them."""
    named = {s.role: one_line(clean(s.text)) for s in entry.spans if s.text}
    made: dict[str, Any] = {k: named[k] for k in ("title", "category", "version") if named.get(k)}
    if named.get("tags"):
        made["tags"] = tuple(tag.strip(" `") for tag in named["tags"].split(",") if tag.strip())
    return made
