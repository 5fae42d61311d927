"""Read the prompts of a project: text for models, which restricts and runs nothing."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from toolmd._load.definitions.folders import Group
from toolmd._load.definitions.reading import DefinitionReader, FoundDefinition, fault
from toolmd._load.source.files import File, whole_file
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic

if TYPE_CHECKING:
    from toolmd._types.prompt import PromptSpec


def read_prompts(
    groups: Iterable[Group],
    reader: DefinitionReader,
    definitions: Iterable[FoundDefinition],
    diagnostics: list[Diagnostic],
) -> "dict[str, PromptSpec]":
    """Return the prompts by name, and add what is wrong with their files to `diagnostics`.

    A skill goes before a prompt of its name, and the first of two prompts before the second.
    """
    taken = {one.name: one.file.path for one in definitions if one.kind == "skill"}
    prompts: dict[str, PromptSpec] = {}
    for file in [file for group in groups for file in group.folder.prompts]:
        spec = _read(file, reader, diagnostics)
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
    return prompts


def _read(
    file: File, reader: DefinitionReader, diagnostics: list[Diagnostic]
) -> "PromptSpec | None":
    try:
        spec, said = reader.parse_prompt(file.data, file.path)
    except Exception as error:  # noqa: BLE001 - a fault of ours in one file costs that file only
        diagnostics.append(fault(file, error))
        return None
    diagnostics += said
    return spec
