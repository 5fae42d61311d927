"""Exclude the definitions of plugins that a broken file of the project means to replace."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from toolmd._load.definitions.reading import FoundDefinition
from toolmd._load.edits.baseline import LastLive
from toolmd._load.source.files import whole_file
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity

_NAME = re.compile(rb"^\W*name\W*:\W*([a-z][\w-]*)", re.IGNORECASE | re.MULTILINE)


def held_back(
    named: Mapping[str, FoundDefinition],
    broken: Iterable[FoundDefinition],
    known: Mapping[str, Sequence[LastLive]],
) -> Iterator[tuple[str, Diagnostic]]:
    """Yield each definition of a plugin that must not run, by name, with a warning.

    The project's file may be stricter, so nothing of its name runs as long as it can't be read.

    Args:
        named: The definitions that can be read, by name.
        broken: The files that can't be read as definitions.
        known: What was live before, by path.
    """
    for file in broken:
        if file.group.package is not None:
            continue
        was = [row.name for row in known.get(file.file.path, ())]
        for name in {*_claimed(file), *was}:
            package = named[name].group.package if name in named else None
            if package is not None:
                message = f"{name} of the plugin {package} does not run while this file has errors"
                severity = Severity.WARNING
                yield (
                    name,
                    whole_file(file.file.path, Code.DUPLICATE_NAME, message, severity=severity),
                )


def _claimed(file: FoundDefinition) -> Iterator[str]:
    """Yield the names that a broken file may mean: of the file, and each that it states."""
    yield _folded(file.file.parts[-1].partition(".")[0])
    for match in _NAME.finditer(file.file.data):
        yield _folded(match[1].decode())


def _folded(name: str) -> str:
    return name.replace("-", "_")
