"""A patient store, bundles about invented people, and a workspace with the tools in it."""

import asyncio
import base64
import json
from datetime import UTC, datetime

import pytest
from fhir_server import FhirServer

from toolmd.testing import FakeClock, memory_workspace
from toolmd_simplescribe.plugin import SimpleScribe
from toolmd_simplescribe.store import PatientStore, load

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


class Making:
    """Makes resources, well-formed unless a test says otherwise by keyword."""

    def __init__(self):
        self._made = 0

    def resource(self, kind, patient="123", **fields):
        self._made += 1
        made = {
            "resourceType": kind,
            "id": f"{kind.lower()}-{self._made}",
            "meta": {"lastUpdated": "2025-05-01T08:00:00Z", "source": "https://ehr.example.org"},
            "subject": {"reference": f"Patient/{patient}"},
        } | fields
        return {name: value for name, value in made.items() if value is not None}

    def patient(self, id_="123", **fields):
        return self.resource("Patient", id=id_, subject=None, **fields)

    def code(self, code, display=None, system="http://loinc.org"):
        return {"coding": [{"system": system, "code": code, "display": display or code}]}

    def lab(self, value=5.4, code="4548-4", unit="%", day="2025-03-04", **fields):
        made = {
            "status": "final",
            "code": self.code(code, "A test") if isinstance(code, str) else code,
            "effectiveDateTime": day,
            "valueQuantity": {"value": value, "unit": unit},
        }
        return self.resource("Observation", **(made | fields))

    def pressure(self, systolic=120, diastolic=80, **fields):
        def part(code, value):
            quantity = {"value": value, "unit": "mmHg", "code": "mm[Hg]"}
            return {"code": self.code(code), "valueQuantity": quantity}

        parts = [part("8462-4", diastolic), part("8480-6", systolic)]
        given = {"valueQuantity": None, "component": parts, "code": self.code("85354-9")}
        return self.lab(**(given | fields))

    def medication(self, **fields):
        made = {
            "status": "active",
            "intent": "order",
            "medicationCodeableConcept": {"text": "Aspirin"},
            "authoredOn": "2025-01-10",
        }
        return self.resource("MedicationRequest", **(made | fields))

    def condition(self, **fields):
        made = {"code": {"text": "Asthma"}, "clinicalStatus": self.code("active")}
        return self.resource("Condition", **(made | fields))

    def allergy(self, **fields):
        made = self.condition(resourceType="AllergyIntolerance", **fields)
        return made | {"patient": made.pop("subject")}

    def encounter(self, **fields):
        made = {"status": "finished", "type": [{"text": "Check"}], "period": {"start": "2025-02"}}
        return self.resource("Encounter", **(made | fields))

    def note(self, text="All is well.", **fields):
        attachment = {"contentType": "text/plain", "data": base64.b64encode(text.encode()).decode()}
        made = {
            "status": "current",
            "type": {"text": "Progress note"},
            "date": "2025-02-03T10:00:00Z",
            "content": [{"attachment": attachment}],
        }
        return self.resource("DocumentReference", **(made | fields))

    def bundle(self, *resources, **fields):
        entries = [{"resource": one} for one in resources]
        made = {"resourceType": "Bundle", "type": "collection", "entry": entries}
        return json.dumps(made | fields).encode()


@pytest.fixture
def make():
    return Making()


@pytest.fixture
def clock():
    return FakeClock(NOON)


class Records:
    """Loads bundles into a patient store and reads charts, as an operator does."""

    def __init__(self, store, make, clock):
        self.store, self._make, self._clock = store, make, clock

    def load(self, *resources, **fields):
        return self.load_bytes(self._make.bundle(*resources, **fields))

    def load_bytes(self, data, **options):
        return load(self.store.database, data, clock=self._clock, **options)

    def chart(self, patient="123"):
        return self.store.chart(patient, patient)

    def labs(self, patient="123"):
        return self.chart(patient).items("labs")

    def index(self, patient="123", now="2026-03-02T12:00:00Z"):
        chart = self.chart(patient)
        return chart.update_index(now)

    def reasons(self, *resources):
        return [omission.reason for omission in self.load(*resources).read.omissions]


@pytest.fixture
def records(tmp_path, make, clock):
    store = PatientStore(tmp_path / "state")
    yield Records(store, make, clock)
    store.close()


@pytest.fixture
def workspace():
    with memory_workspace({"none.txt": ""}, plugins={"simplescribe": SimpleScribe({})}) as opened:
        yield opened


@pytest.fixture
def workspace_records(workspace, make, clock):
    """Open the records in the workspace's own store."""
    store = PatientStore(workspace.settings.state)
    yield Records(store, make, clock)
    store.close()


@pytest.fixture
def call(workspace):
    """Call a tool for the patient that the host names."""

    def go(tool, arguments=None, *, patient="123", **options):
        given = {"patient_id": "123", **(arguments or {})}
        context = {} if patient is None else {"patient": patient}
        return asyncio.run(workspace.call(tool, given, context=context, **options))

    return go


@pytest.fixture
def server():
    with FhirServer().open() as opened:
        yield opened


@pytest.fixture
def server_call(server):
    """Call a tool for the patient that the host names, on the server's records."""
    environ = {"SIMPLESCRIBE_FHIR_URL": server.url, "SIMPLESCRIBE_EMBEDDER": "none"}
    plugin = SimpleScribe(environ, lambda user: f"token-of-{user}")
    with memory_workspace({"none.txt": ""}, plugins={"simplescribe": plugin}) as workspace:

        def go(tool, arguments=None, *, patient="123", user="ana", **options):
            given = {"patient_id": "123", **(arguments or {})}
            context = {"patient": patient}
            asked = workspace.call(tool, given, context=context, user=user, **options)
            return asyncio.run(asked)

        yield go
