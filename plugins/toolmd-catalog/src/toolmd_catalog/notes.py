"""The words of one tool: title, description, when to use it, and what is kept as prose."""

from typing import Any

from toolmd._import.names import title_of
from toolmd._import.text import first_and_rest, plain_line, prose
from toolmd._parse.blocks.block import Paragraph
from toolmd._parse.fields.table import section_of
from toolmd._parse.words.keys import fold
from toolmd_catalog.layout.entries import ToolEntry
from toolmd_catalog.layout.spans import sentences, text_of
from toolmd_catalog.parameters.lines import says_none
from toolmd_catalog.words import clean

REMARKS = "Remarks"


def head(entry: ToolEntry, name: str, said: dict[str, Any], others: list[str]) -> dict[str, Any]:
    """Give title, description and when to use; the description is empty where none is told.

    `said` is what a schema in code has given already, `others` are texts that stand elsewhere.
    """
    heading = entry.heading
    paragraphs = [text_of(stretch) for stretch in entry.of("purpose")] + _unlabelled(entry)
    told = [*paragraphs, said.get("description", ""), heading.words, *others]
    told = [text for text in told if text and text != "-"]
    first, more = first_and_rest(clean(told[0])) if told else ("", "")
    rest = [more, *paragraphs[1:], *(text_of(stretch) for stretch in entry.of("when"))]
    when = [prose(clean(text)) for text in rest if text]
    when += [said["when_to_use"]] if said.get("when_to_use") else []
    return {
        "title": title_of(name) if heading.strong else plain_line(heading.name),
        "description": first,
        "when_to_use": "\n\n".join(dict.fromkeys(when)),
    }


def _unlabelled(entry: ToolEntry) -> list[str]:
    return [
        " ".join(block.mark.text.split())
        for stretch in entry.of("")
        for block in stretch.blocks
        if isinstance(block, Paragraph) and not says_none(block.mark.text)
    ]


def sections(entry: ToolEntry, kept: list[str]) -> dict[str, str]:
    """Give the prose that no field holds, under the labels that it had."""
    made: dict[str, str] = {}
    for role in ("notes", "other"):
        for stretch in entry.of(role):
            texts = [text for text, _ in sentences(stretch)]
            if texts and stretch.label:
                body = texts[0] if len(texts) == 1 else "\n".join(f"- {text}" for text in texts)
                made.setdefault(_title(stretch.label), prose(clean(body)))
    if kept:
        body = prose("\n".join(f"- {clean(text)}" for text in dict.fromkeys(kept)))
        made[REMARKS] = f"{made[REMARKS]}\n\n{body}" if REMARKS in made else body
    return made


def _title(label: str) -> str:
    title = plain_line(clean(label)).strip(":") or REMARKS
    return f"{title} notes" if section_of("tool", fold(title)) else title


def labels(entry: ToolEntry) -> dict[str, Any]:
    """Give title, category, version and tags where the tool's own labels name them."""
    named = {s.role: plain_line(clean(s.text)) for s in entry.stretches if s.text}
    made: dict[str, Any] = {k: named[k] for k in ("title", "category", "version") if named.get(k)}
    if named.get("tags"):
        made["tags"] = tuple(tag.strip(" `") for tag in named["tags"].split(",") if tag.strip())
    return made
