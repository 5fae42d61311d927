"""Run `toolmd-simplescribe`: load bundles, index notes, and list or delete patients."""

import json
import shutil
import sqlite3
import sys
from contextlib import closing
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Any

import typer

from toolmd import NotFoundError, ToolmdError, load_settings
from toolmd_simplescribe.configuration import method_of
from toolmd_simplescribe.fhir.bundle import LARGEST, BundleError
from toolmd_simplescribe.loader import SYSTEM, load, utc_now
from toolmd_simplescribe.progress import on_screen
from toolmd_simplescribe.report import lines_of
from toolmd_simplescribe.store import PatientStore

app = typer.Typer(
    help="Fill and keep the patient store that SimpleScribe's tools read.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Project = Annotated[
    Path | None, typer.Option(help="The project's folder; else the nearest one upward.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

_FAILED, _NOT_FOUND = 1, 5
"""Like the exit codes of `toolmd`."""


@app.command("load")
def load_command(
    paths: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Bundles; - is stdin.")],
    *,
    system: Annotated[str, typer.Option(help="The source of resources that name none.")] = SYSTEM,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Load FHIR R4 bundles, each completely or not at all, and index their notes for search."""
    failed = 0
    told: list[dict[str, Any]] = []
    with closing(_store(project)) as store:
        for path in paths:
            try:
                with on_screen(f"Loading {path.name}") as progress:
                    loaded = load(store.database, _bytes_of(path), system=system, progress=progress)
            except (BundleError, OSError, sqlite3.Error) as error:
                failed += 1
                reason = getattr(error, "strerror", None) or str(error)
                told.append({"file": str(path), "error": reason})
                typer.echo(f"{path}: not loaded: {reason}", err=True)
                continue
            told.append({"file": str(path), **loaded.to_dict()})
            if not as_json:
                typer.echo("\n".join(lines_of(path, loaded)))
            with on_screen(f"Indexing the notes of {path.name}") as progress:
                for patient in loaded.patients:
                    store.chart_of(patient).update_index(_now(), progress)
    if as_json:
        typer.echo(json.dumps({"files": told}))
    if failed:
        raise typer.Exit(_FAILED)


@app.command("index")
def index_command(
    patients: Annotated[
        list[str] | None, typer.Argument(metavar="[PATIENT]...", help="Whose notes.")
    ] = None,
    *,
    everybody: Annotated[bool, typer.Option("--all", help="Everybody's notes.")] = False,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Index notes for search (the Explore workflow), such as after a change of the embedder."""
    if everybody == bool(patients):
        raise typer.BadParameter("name patients, or --all")
    told = []
    with closing(_store(project)) as store:
        for patient in patients or store.patients():
            with on_screen(f"Indexing {patient}") as progress:
                done = store.chart_of(patient).update_index(_now(), progress)
            told.append({"patient": patient, **done._asdict()})
            if not as_json:
                typer.echo(
                    f"{patient}: {done.added} indexed, {done.kept} were, {done.removed} removed"
                )
    if as_json:
        typer.echo(json.dumps({"patients": told}))


@app.command("patients")
def patients_command(*, project: Project = None, as_json: Json = False) -> None:
    """List the patients in the store, and the number of items of each kind."""
    with closing(_store(project)) as store:
        told = [{"patient": id_, **store.chart_of(id_).counts()} for id_ in store.patients()]
    if as_json:
        typer.echo(json.dumps({"patients": told}))
        return
    for one in told:
        counts = ", ".join(f"{n} {kind.replace('_', ' ')}" for kind, n in list(one.items())[1:])
        typer.echo(f"{one['patient']}: {counts}")
    if not told:
        typer.echo("The store is empty.")


@app.command("forget")
def forget_command(patient: str, *, project: Project = None) -> None:
    """Delete all data of a patient."""
    with closing(_store(project)) as store:
        store.forget(patient)
    typer.echo(f"Forgot {patient}.")


@app.command("samples")
def samples_command(
    folder: Annotated[Path, typer.Argument(help="Where to; made where there is none.")],
) -> None:
    """Write small bundles about invented people, to try the tools."""
    folder.mkdir(parents=True, exist_ok=True)
    with as_file(files("toolmd_simplescribe") / "samples") as samples:
        for sample in sorted(samples.glob("*.json")):
            target = folder / sample.name
            if target.exists():
                raise ToolmdError(f"{target} already exists")
            shutil.copyfile(sample, target)
            typer.echo(f"made {target}")


def main() -> None:
    """Run the command, and report an error in one line."""
    try:
        app()
    except NotFoundError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(_NOT_FOUND)
    except (ToolmdError, OSError, sqlite3.Error) as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(_FAILED)


def _store(project: Path | None) -> PatientStore:
    return PatientStore(load_settings(project).state, method_of())


def _now() -> str:
    return f"{utc_now():%Y-%m-%dT%H:%M:%SZ}"


def _bytes_of(path: Path) -> bytes:
    # One byte more than the limit shows that the file is too large.
    if path == Path("-"):
        return sys.stdin.buffer.read(LARGEST + 1)
    with path.open("rb") as file:
        return file.read(LARGEST + 1)
