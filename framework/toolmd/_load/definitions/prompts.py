"""Read the prompts of a project: text for models, which restricts and runs nothing."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from toolmd._load.definitions.folders import Group
from toolmd._load.definitions.reading import DefinitionReader, FoundDefinition, fault
from toolmd._load.source.files import File, whole_file
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic

if TYPE_CHECKING:
    from toolmd._types.prompt import PromptSpec


class ReadPrompt(NamedTuple):
    """A prompt's file and what was read of it."""

    file: File
    spec: "PromptSpec | None"
    said: tuple[Diagnostic, ...]


def read_prompts(
    groups: Iterable[Group],
    reader: DefinitionReader,
    definitions: Iterable[FoundDefinition],
    diagnostics: list[Diagnostic],
    before: "Mapping[str, ReadPrompt]",
) -> "tuple[dict[str, PromptSpec], dict[str, ReadPrompt]]":
    """Return the prompts by name and by path, and add what is wrong to `diagnostics`.

    `before` are those read last, by path: a file that has not changed is not read again. A skill
    goes before a prompt of its name, and the first of two prompts before the second.
    """
    taken = {one.name: one.file.path for one in definitions if one.kind == "skill"}
    prompts: dict[str, PromptSpec] = {}
    read: dict[str, ReadPrompt] = {}
    for file in [file for group in groups for file in group.folder.prompts]:
        last = before.get(file.path)
        one = last if last is not None and last.file is file else _read(file, reader)
        read[file.path], spec = one, one.spec
        diagnostics += one.said
        if spec is None:
            continue
        if (first := taken.setdefault(spec.name, file.path)) is not file.path:
            message = (
                f"{spec.name} is the name of two definitions: {first} stays, {file.path} does not "
                "load"
            )
            help_ = "give one of them another Name, or remove it"
            diagnostics.append(whole_file(file.path, Code.DUPLICATE_NAME, message, help_))
        else:
            prompts[spec.name] = spec
    return prompts, read


def _read(file: File, reader: DefinitionReader) -> ReadPrompt:
    try:
        return ReadPrompt(file, *reader.parse_prompt(file.data, file.path))
    except Exception as error:  # noqa: BLE001 - a fault of ours in one file costs that file only
        return ReadPrompt(file, None, (fault(file, error),))
