"""The Examples section: calls that the author shows, each with its expected outcome."""

from typing import Any

from toolmd._expressions import tokens
from toolmd._parse.blocks import Block, Bullets, Fence, Node, Paragraph, Part
from toolmd._parse.document.definition import Definition
from toolmd._parse.page import Mark, Page, locate
from toolmd._parse.words import code_text, flow, fold, heading_text, plain, split
from toolmd._types.code import Code
from toolmd._types.schema import Parameter, Schema
from toolmd._types.tool import Example
from toolmd._validation import problems
from toolmd._validation.strict_json import JsonError, read_json

_LABELS = frozenset(("arguments", "result", "error"))


def read_examples(definition: Definition, parameters: tuple[Parameter, ...]) -> tuple[Example, ...]:
    """Read each `### title` with its fences; report and skip an example with invalid JSON."""
    section = definition.section("Examples")
    if section is None:
        return ()
    groups: list[tuple[str, Mark, list[Block]]] = []
    if any(isinstance(block, Fence) for block in section.blocks):
        groups.append(("Example", section.mark, section.blocks))
    else:
        definition.document.keep(section, section.blocks, [])
    groups += [(heading_text(p.heading.text), p.heading, p.blocks) for p in section.parts]
    examples: list[Example] = []
    unread: list[Part] = []
    beside: list[Block] = []
    for title, mark, blocks in groups:
        reader = _Reader(definition.page, title, mark)
        example = reader.read(blocks, parameters)
        if example is not None:
            definition.page.named("example", title, mark, declares=True)
            examples.append(example)
            beside += reader.beside
        elif mark is section.mark:
            beside += blocks
        else:
            unread.append(Part(section.level + 1, mark, blocks))
    definition.document.keep(section, beside, unread)
    return tuple(examples)


class _Reader:
    """A reader of one example."""

    def __init__(self, page: Page, title: str, mark: Mark) -> None:
        self.page, self.title, self.mark = page, title, mark
        self.values: dict[str, Any] = {}
        """What was read, by label."""
        self.is_broken = False
        self.beside: list[Block] = []
        """The blocks that are not part of the example; they are kept as prose."""

    def read(self, blocks: list[Block], parameters: tuple[Parameter, ...]) -> Example | None:
        for block in blocks:
            match block:
                case Fence():
                    self._fence(block)
                case Bullets():
                    left = [item for item in block.items if not self._entry(item.entry)]
                    self.beside += [Bullets(left, block.ordered)] if left else []
                case Paragraph() if self._line(block.mark):
                    pass
                case _:
                    self.beside.append(block)
        if self.is_broken:
            return None
        if "arguments" not in self.values:
            what = f"the example '{self.title}' has no arguments that can be read"
            self._warn(self.mark, what, "write the arguments as a JSON object in a ```json fence")
            return None
        error, has_result = self.values.get("error"), "result" in self.values
        example = Example(title=self.title, has_result=has_result, **self.values)
        shape = Schema(types=("object",), properties=parameters)
        for problem in problems(example.arguments, shape) if error is None else ():
            what = f"the example '{self.title}' does not fit the parameters: {problem.message}"
            help_ = "fix the example, or add the Error that the call must return"
            self._warn(self.mark, what, help_)
        return example

    def _warn(self, mark: Mark, what: str, help_: str) -> None:
        self.page.warn(Code.INVALID_EXAMPLE, mark, what, help_)

    def _fence(self, fence: Fence, label: str = "") -> None:
        """Read the JSON of a fence: the arguments, or else the result."""
        label = label or ("result" if "arguments" in self.values else "arguments")
        if label in self.values or label == "error":
            what = f"this fence of the example '{self.title}' is not read: an example has "
            what += "arguments and one result, and an Error is only a code"
            mark = fence.mark._replace(text=f"```\n{fence.content}```")
            self._warn(mark, what, "write it under a `### title` of its own, or remove it")
            return
        try:
            self._take(label, read_json(fence.content), fence.mark, fence.content)
        except JsonError as error:
            mark = Mark(" ", fence.mark.line + error.line, error.column)
            self._warn(mark, f"invalid JSON: {error.reason}", "fix the JSON")
            self.is_broken = True

    def _take(self, label: str, value: Any, mark: Mark, text: str) -> None:
        if label == "arguments" and not isinstance(value, dict):
            self._warn(mark, "the arguments are not a JSON object", 'write `{"name": value}`')
            return
        self.values[label] = value
        if label == "arguments":
            self._record_keys(text, mark._replace(column=1) if mark.text[:1] == "`" else mark)

    def _record_keys(self, text: str, mark: Mark) -> None:
        """Record the keys of the arguments, in the JSON at or after a mark."""
        depth, found = 0, tokens(text)
        places = locate(self.page.lines, (token.text for token in found), *mark[1:])
        for token, place, behind in zip(found, places, [*found[1:], None], strict=True):
            depth += (token.text in {"{", "["}) - (token.text in {"}", "]"})
            is_key = depth == 1 and behind is not None and behind.text == ":"
            if token.kind == "string" and place is not None and is_key:
                at = Mark(token.text, place.line, place.column)
                self.page.named("parameter", token.text[1:-1], at)

    def _line(self, mark: Mark) -> bool:
        """Read `**Error**: not_found` without a bullet, and skip a label above a fence."""
        pair = split(mark)
        if pair is None or fold(pair.key.text) not in _LABELS:
            return False
        return not pair.value.text or self._entry(Node.bullet(mark))

    def _entry(self, entry: Node | None) -> bool:
        """Read Arguments, Result or Error; return whether the bullet is one of them."""
        if entry is None:
            return False
        label = fold(entry.name)
        if label not in _LABELS or label in self.values:
            what = f"'{flow(entry.key.text)[:40]}' is not part of an example; it is kept as prose"
            help_ = "an example has Arguments, Result and Error, once each"
            self.page.warn(Code.UNKNOWN_FIELD, entry.key, what, help_)
            return False
        fence = next((b for b in entry.blocks if isinstance(b, Fence)), None)
        self.beside += [b for b in entry.blocks if b is not fence]
        if label == "error":
            self.values["error"] = plain(entry.text)
        elif fence is None:
            try:
                self._take(label, read_json(code_text(entry.text)), entry.value, entry.text)
            except JsonError:
                if label == "arguments":
                    return False
                self.values["result"] = entry.text
        elif entry.text:
            self.beside.append(Paragraph(entry.value))
        if fence is not None:
            self._fence(fence, label)
        return True
