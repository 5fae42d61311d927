"""Read Medplum's FHIR server with the tools and compare with the store: `make fhir`.

It needs Node 20 and npm, which installs 104 MB into `.medplum`. The sample bundles are stored on
the server; each tool must return the same items from there as from the patient store.
"""

import asyncio
import json
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx
import typer

from toolmd.testing import memory_workspace
from toolmd_simplescribe.plugin import SimpleScribe
from toolmd_simplescribe.store import PatientStore, load

HERE = Path(__file__).parent
FOLDER = Path(".medplum")
CALLS: dict[str, dict[str, Any]] = {
    "get_labs": {},
    "get_vitals": {"types": ["BP", "Weight"]},
    "get_meds": {"status": "active"},
    "get_problems": {},
    "get_notes": {"limit": 2},
    "get_notes_search_results": {"query": "ACE inhibitor intolerance", "top_k": 2},
}
SAMPLES = list((files("toolmd_simplescribe") / "samples").iterdir())


def main() -> int:
    """Return 1 if a tool's items differ."""
    FOLDER.mkdir(exist_ok=True)
    for name in ("package.json", "server.mjs"):
        shutil.copyfile(HERE / name, FOLDER / name)
    npm = shutil.which("npm")
    node = shutil.which("node")
    if npm is None or node is None:
        typer.echo("skipped: node and npm are not installed")
        return 0
    subprocess.run([npm, "install", "--silent", "--no-audit", "--no-fund"], cwd=FOLDER, check=True)
    with subprocess.Popen([node, "server.mjs"], cwd=FOLDER, stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout is not None
            url = f"http://127.0.0.1:{int(server.stdout.readline())}/fhir/R4"
            fill(url)
            failed = [tool for tool in CALLS if not compare(url, tool)]
            return int(bool(failed))
        finally:
            server.terminate()


def fill(url: str) -> None:
    """Store the samples by their own ids."""
    with httpx.Client(timeout=60) as http:
        for sample in SAMPLES:
            for entry in json.loads(sample.read_bytes())["entry"]:
                one = entry["resource"]
                address = f"{url}/{one['resourceType']}/{one['id']}"
                http.put(address, json=one).raise_for_status()


def compare(url: str, tool: str) -> bool:
    """Return whether a tool returns the same from the server as from the store."""
    stored, live = (items(environ, tool) for environ in ({}, {"SIMPLESCRIBE_FHIR_URL": url}))
    same = bool(stored) and stored == live
    typer.echo(f"{tool}: {len(live)} items, {'the same' if same else f'not {stored}: {live}'}")
    return same


def items(environ: dict[str, str], tool: str) -> list[dict[str, Any]]:
    """Return a tool's items without their source, which names another server."""
    environ = {**environ, "SIMPLESCRIBE_EMBEDDER": "none"}
    plugins = {"simplescribe": SimpleScribe(environ)}
    with memory_workspace({"none.txt": ""}, plugins=plugins) as workspace:
        if "SIMPLESCRIBE_FHIR_URL" not in environ:
            store = PatientStore(workspace.settings.state)
            for sample in SAMPLES:
                load(store.database, sample.read_bytes())
            store.chart_of("123").update_index("2026-01-01T00:00:00Z")
            store.close()
        arguments = {"patient_id": "123", **CALLS[tool]}
        result = asyncio.run(workspace.call(tool, arguments, context={"patient": "123"}))
    if not result.success:
        typer.echo(f"{tool}: {result.error}")
        return []
    return [{name: value for name, value in one.items() if name != "source"} for one in result.data]


if __name__ == "__main__":
    sys.exit(main())
