"""The Examples section: calls that the author shows, each with its expected outcome."""

from typing import Any

from toolmd._expressions import tokens
from toolmd._parse.blocks import Block, Bullets, Fence, Item, Paragraph, Part
from toolmd._parse.document.definition import Definition
from toolmd._parse.fields.entries import item_entry
from toolmd._parse.page import Mark, Page, located
from toolmd._parse.words import code_text, flow, fold, heading_text, plain, split
from toolmd._types.code import Code
from toolmd._types.schema import Parameter, Schema
from toolmd._types.tool import Example
from toolmd._validation import problems
from toolmd._validation.strict_json import JsonError, read_json

_LABELS = frozenset(("arguments", "result", "error"))
_CALL_KEYS = {"name", "tool", "arguments", "params", "parameters", "args"}


def read_examples(
    definition: Definition, tool: str, parameters: tuple[Parameter, ...]
) -> tuple[Example, ...]:
    """Read each `### title` with its fences; report and skip an example with invalid JSON."""
    section = definition.section("Examples")
    if section is None:
        return ()
    groups: list[tuple[str, Mark, list[Block]]] = []
    if any(isinstance(block, Fence) for block in section.blocks):
        groups.append(("Example", section.mark, section.blocks))
    else:
        _report_unread(definition.page, section.blocks)
        definition.document.keep(section, section.blocks, [])
    groups += [(heading_text(p.heading.text), p.heading, p.blocks) for p in section.parts]
    examples: list[Example] = []
    unread: list[Part] = []
    beside: list[Block] = []
    for title, mark, blocks in groups:
        reader = _Reader(definition.page, title, mark, tool)
        example = reader.read(blocks)
        if example is not None:
            definition.page.named("example", title, mark, declares=True)
            _check_arguments(definition.page, mark, example, parameters)
            examples.append(example)
            beside += reader.beside
        elif mark is section.mark:
            beside += blocks
        else:
            unread.append(Part(section.level + 1, mark, blocks))
    definition.document.keep(section, beside, unread)
    return tuple(examples)


def _report_unread(page: Page, blocks: list[Block]) -> None:
    """Warn of a bullet with JSON in it, which is kept as prose and never run."""
    for block in blocks:
        for item in block.items if isinstance(block, Bullets) else ():
            if any(isinstance(b, Fence) for b in item.blocks) or "`{" in item.mark.text:
                page.warn(
                    Code.INVALID_EXAMPLE,
                    item.mark,
                    f"'{flow(item.mark.text)[:40]}' is not read as an example",
                    "write `### title`, and the arguments in a ```json fence below it",
                )


class _Reader:
    """A reader of one example."""

    def __init__(self, page: Page, title: str, mark: Mark, tool: str) -> None:
        self.page, self.title, self.mark, self.tool = page, title, mark, tool
        self.said: dict[str, Any] = {"title": title}
        self.broken = False
        self.beside: list[Block] = []
        """The blocks that are not part of the example; they are kept as prose."""

    def read(self, blocks: list[Block]) -> Example | None:
        for block in blocks:
            if isinstance(block, Fence):
                self._fence(block)
            elif isinstance(block, Bullets):
                left = [item for item in block.items if not self._bullet(item)]
                self.beside += [Bullets(left, block.ordered)] if left else []
            elif isinstance(block, Paragraph) and self._line(block.mark):
                pass
            else:
                self.beside.append(block)
        if self.broken:
            return None
        if "arguments" not in self.said:
            self.page.warn(
                Code.INVALID_EXAMPLE,
                self.mark,
                f"the example '{self.title}' has no arguments that can be read",
                "write the arguments as a JSON object in a ```json fence",
            )
            return None
        return Example(**self.said)

    def _fence(self, fence: Fence) -> None:
        value, fault = _json(fence.content)
        if fault:
            line = fence.mark.line + fault[1]
            mark = Mark(" ", line, fault[2])
            self.page.warn(Code.INVALID_EXAMPLE, mark, f"invalid JSON: {fault[0]}", "fix the JSON")
            self.broken = True
        elif "arguments" not in self.said:
            self._arguments(value, fence.mark)
            self._record_keys(fence.content, value, fence.mark._replace(column=1))
        elif "result" not in self.said:
            self.said |= {"result": value, "has_result": True}
        else:
            self.page.warn(
                Code.INVALID_EXAMPLE,
                fence.mark._replace(text=f"```\n{fence.content}```"),
                f"the example '{self.title}' has arguments and a result already; this is not read",
                "write it under a `### title` of its own, or remove it",
            )

    def _arguments(self, value: Any, mark: Mark) -> None:
        if isinstance(value, dict) and set(value) <= _CALL_KEYS and len(value) == 2:  # noqa: PLR2004
            named = value.get("name", value.get("tool"))
            inner = next((v for v in value.values() if isinstance(v, dict)), None)
            if named == self.tool and inner is not None:
                value = inner
        if isinstance(value, dict):
            self.said["arguments"] = value
            return
        self.page.warn(
            Code.INVALID_EXAMPLE,
            mark,
            "the arguments are not a JSON object",
            'write `{"name": value}`',
        )

    def _record_keys(self, text: str, value: Any, mark: Mark) -> None:
        """Record the keys of the arguments, in the JSON at or after a mark."""
        depth, wanted = 0, 1 if value is self.said.get("arguments") else 2
        found = tokens(text)
        places = located(self.page.lines, (token.text for token in found), *mark[1:])
        for token, place, behind in zip(found, places, [*found[1:], None], strict=True):
            depth += (token.text in {"{", "["}) - (token.text in {"}", "]"})
            is_key = depth == wanted and behind is not None and behind.text == ":"
            if token.kind == "string" and place is not None and is_key:
                at = Mark(token.text, place.line, place.column)
                self.page.named("parameter", token.text[1:-1], at)

    def _line(self, mark: Mark) -> bool:
        """Read `**Error**: not_found` without a bullet, and skip a label above a fence."""
        pair = split(mark)
        if pair is None or fold(pair.key.text) not in _LABELS:
            return False
        return not pair.value.text or self._bullet(Item(mark, mark.line, mark.column))

    def _bullet(self, item: Item) -> bool:
        """Read Arguments, Result or Error; return whether the bullet is one of them."""
        entry = item_entry(item)
        key = fold(entry.name) if entry else ""
        if entry is None or key not in _LABELS or key in self.said:
            if entry is not None:
                self.page.warn(
                    Code.UNKNOWN_FIELD,
                    item.mark,
                    f"'{flow(item.mark.text)[:40]}' is not part of an example; it is kept as prose",
                    "an example has Arguments, Result and Error, once each",
                )
            return False
        fence = next((b for b in entry.blocks if isinstance(b, Fence)), None)
        self.beside += [b for b in entry.blocks if b is not fence]
        if key == "error":
            if fence is not None:
                self.page.warn(
                    Code.INVALID_EXAMPLE,
                    fence.mark._replace(text=f"```\n{fence.content}```"),
                    f"the Error of the example '{self.title}' is only a code; this is not read",
                    "remove it, or describe it in words above the example",
                )
            self.said["error"] = plain(entry.text)
            return True
        if fence is not None and entry.text:
            self.beside.append(Paragraph(entry.value))
        text = fence.content if fence else code_text(entry.text)
        value, fault = _json(text)
        if key == "arguments" and not fault:
            self._arguments(value, entry.value)
            self._record_keys(text, value, fence.mark._replace(column=1) if fence else entry.value)
        elif key == "result":
            self.said |= {"result": entry.text if fault else value, "has_result": True}
        return key == "result" or not fault


def _json(text: str) -> tuple[Any, tuple[str, int, int] | None]:
    """Return the parsed value, or the fault with its line and column from 1."""
    try:
        return read_json(text), None
    except JsonError as error:
        return None, (error.reason, error.line, error.column)


def _check_arguments(
    page: Page, mark: Mark, example: Example, parameters: tuple[Parameter, ...]
) -> None:
    """Validate the arguments of an example of a successful call against the parameters."""
    if example.error is not None:
        return
    shape = Schema(types=("object",), properties=parameters)
    for problem in problems(example.arguments, shape):
        page.warn(
            Code.INVALID_EXAMPLE,
            mark,
            f"the example '{example.title}' does not fit the parameters: {problem.message}",
            "fix the example, or add the Error that the call must return",
        )
