"""Import a source with the plugin that reads its kind, and a model where one is named."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from toolmd._cli.authoring.sources import WANTED
from toolmd._cli.files import STDIN
from toolmd._cli.frame import ExitCode, stop
from toolmd._cli.screen import read_stdin
from toolmd._types.imported import Imported
from toolmd._types.source import SUFFIXES


def read_by_plugin(
    kind: str, source: str, folder: Path | None, model: str
) -> Imported | Mapping[str, str]:
    """Import with the plugin of this kind; standard input is passed on as a file.

    `model` names the model that fills in what can't be read; empty for none.
    """
    from toolmd._workspace.plugins import import_by_plugin

    ask_of = None
    if model:
        from toolmd._chat.one_answer import ask_of as ask_model

        ask_of = partial(ask_model, model)
    if source != STDIN:
        return import_by_plugin(folder, kind, source, ask_of)
    with TemporaryDirectory() as place:
        file = Path(place, "stdin")
        file.write_bytes(read_stdin(WANTED))
        return import_by_plugin(folder, kind, str(file), ask_of)


def checked_names(files: Mapping[str, str]) -> dict[str, str]:
    """Check that a plugin's file names are those of definitions: no folder, the right suffix."""
    for name in files:
        if Path(name).name != name or not name.endswith(tuple(SUFFIXES)):
            stop(
                ExitCode.FINDINGS,
                f"the plugin returned the file name {name!r}",
                "it must return NAME.tool.md, NAME.skill.md or NAME.prompt.md",
            )
    return dict(files)
