"""Run `toolmd-simplescribe`: load bundles, index notes, and list or delete patients."""

import json
import shutil
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Any

import typer

from toolmd import NotFoundError, ToolmdError, load_settings
from toolmd_simplescribe.fhir.bundle import LARGEST, BundleError
from toolmd_simplescribe.search.embedder import embedder_of
from toolmd_simplescribe.search.method import Method
from toolmd_simplescribe.store import SYSTEM, Loaded, PatientStore, load, utc_now

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

_NAMED = 3
"""How many omitted resources are named for each reason."""
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
    told: list[dict[str, Any]] = []
    with closing(_store(project)) as store:
        for path in paths:
            try:
                loaded = load(store.database, _bytes_of(path), system=system)
            except (BundleError, OSError, sqlite3.Error) as error:
                reason = getattr(error, "strerror", None) or str(error)
                told.append({"file": str(path), "error": reason})
                typer.echo(f"{path}: not loaded: {reason}", err=True)
                continue
            told.append({"file": str(path), **_as_json(loaded)})
            if not as_json:
                typer.echo("\n".join(_lines(path, loaded)))
            for patient in loaded.patients:
                store.chart_of(patient).update_index(_now())
    if as_json:
        typer.echo(json.dumps({"files": told}))
    if any("error" in one for one in told):
        raise typer.Exit(_FAILED)


@app.command("index")
def index_command(
    patients: Annotated[
        list[str] | None, typer.Argument(metavar="[PATIENT]...", help="Whose notes.")
    ] = None,
    *,
    everybody: Annotated[bool, typer.Option("--all", help="Everybody's notes.")] = False,
    project: Project = None,
) -> None:
    """Index notes for search (the Explore workflow), such as after a change of the embedder."""
    if everybody == bool(patients):
        raise typer.BadParameter("name patients, or --all")
    with closing(_store(project)) as store:
        for patient in patients or store.patients():
            done = store.chart_of(patient).update_index(_now())
            typer.echo(f"{patient}: {done.added} indexed, {done.kept} were, {done.removed} removed")


@app.command("patients")
def patients_command(*, project: Project = None) -> None:
    """List the patients in the store, and the number of items of each kind."""
    with closing(_store(project)) as store:
        for id_ in (patients := store.patients()):
            counts = store.chart_of(id_).counts().items()
            typer.echo(f"{id_}: {', '.join(f'{n} {kind}' for kind, n in counts)}")
    if not patients:
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
    except (ToolmdError, OSError, sqlite3.Error) as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(_NOT_FOUND if isinstance(error, NotFoundError) else _FAILED)


def _store(project: Path | None) -> PatientStore:
    return PatientStore(load_settings(project).state, Method(embedder_of()))


def _now() -> str:
    return f"{utc_now():%Y-%m-%dT%H:%M:%SZ}"


def _bytes_of(path: Path) -> bytes:
    # One byte more than the limit shows that the file is too large.
    if path == Path("-"):
        return sys.stdin.buffer.read(LARGEST + 1)
    with path.open("rb") as file:
        return file.read(LARGEST + 1)


def _as_json(loaded: Loaded) -> dict[str, Any]:
    return {
        "resources": loaded.resources,
        "items": loaded.items,
        "patients": dict(sorted(loaded.patients.items())),
        "patients_not_in_bundle": list(loaded.unnamed),
        "unknown_types": dict(sorted(loaded.read.unknown.items())),
        "left_out": [omission._asdict() for omission in loaded.read.omissions],
        "entries_without_resource": loaded.empty,
    }


def _lines(path: Path, loaded: Loaded) -> Iterator[str]:
    """Return the lines about a loaded file."""
    yield f"{path}: {_counted(loaded.resources) or 'nothing to load'}"
    about = ", ".join(f"{name} ({count})" for name, count in loaded.patients.items())
    for what, shown in (
        ("items", _counted(loaded.items)),
        ("about", about or "nobody"),
        ("not in the bundle themselves", ", ".join(loaded.unnamed)),
        ("of types that no tool returns", _counted(loaded.read.unknown)),
        ("entries without a resource", loaded.empty),
    ):
        if shown:
            yield f"  {what}: {shown}"
    reasons: dict[str, list[str]] = {}
    for one in loaded.read.omissions:
        reasons.setdefault(one.reason, []).append(one.resource)
    for reason, names in sorted(reasons.items(), key=lambda one: -len(one[1])):
        more = ", …" if len(names) > _NAMED else ""
        yield f"  left out, {reason}: {len(names)} ({', '.join(names[:_NAMED])}{more})"


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())
