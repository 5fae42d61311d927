"""Open the patients' records: one file of items, and one index of notes per patient."""

from pathlib import Path

from toolmd import NotFoundError, ToolError
from toolmd.database import Database
from toolmd_simplescribe.chart import Chart
from toolmd_simplescribe.schema import MIGRATIONS
from toolmd_simplescribe.search.method import Method
from toolmd_simplescribe.search.note_index import NoteIndex
from toolmd_simplescribe.search.synonyms import synonyms_of

FILE = "simplescribe.sqlite3"
"""The file of the store in the project's state folder."""
INDEXES = "simplescribe-notes"
"""The folder next to it with each patient's index of notes."""


class PatientStore:
    """The records of all patients; a tool reads only the chart that the host names."""

    def __init__(self, state: Path, method: Method | None = None) -> None:
        """Open the store of a state folder; a missing one is created.

        `method` is that of the search; the default one searches by words and our synonyms.
        """
        self.method = method or Method(synonyms_of({}))
        self.database = Database(state / FILE, MIGRATIONS)
        self._indexes = state / INDEXES

    def chart(self, patient_id: str, caller_patient: str | None) -> Chart:
        """Return the chart of a call, if it is that of the patient in the caller's context.

        Raises ToolError `other_patient` for any other patient, and `patient_not_found` for a
        patient without loaded records, which must not look like a healthy patient.
        """
        check_patient(patient_id, caller_patient)
        if (chart := self._chart(patient_id)) is None:
            message = (
                f"No records are loaded for patient {patient_id!r}. This says nothing about the "
                "patient: ask the operator to load the record."
            )
            raise ToolError(message, code="patient_not_found")
        return chart

    def patients(self) -> list[str]:
        """Return the ids of all patients, for the operator."""
        with self.database.reading() as db:
            return [id_ for (id_,) in db.execute("SELECT id FROM patient ORDER BY id")]

    def chart_of(self, patient_id: str) -> Chart:
        """Return one patient's chart, for the operator; raises NotFoundError."""
        if (chart := self._chart(patient_id)) is None:
            raise NotFoundError(f"no records are loaded for patient {patient_id!r}")
        return chart

    def forget(self, patient_id: str) -> None:
        """Delete all data of a patient; raises NotFoundError."""
        chart = self.chart_of(patient_id)
        with self.database.writing() as db:
            db.execute("DELETE FROM patient WHERE number = ?", (chart.number,))
        chart.index.remove()

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    def _chart(self, patient_id: str) -> Chart | None:
        with self.database.reading() as db:
            query = "SELECT number FROM patient WHERE id = ?"
            row = db.execute(query, (patient_id,)).fetchone()
        if row is None:
            return None
        return Chart(
            self.database, row[0], NoteIndex(self._indexes / f"{row[0]}.sqlite3", self.method)
        )


def check_patient(patient_id: str, caller_patient: str | None) -> None:
    """Raise ToolError `other_patient` unless the host named this patient."""
    if caller_patient is None or patient_id != caller_patient:
        raise ToolError(OTHER_PATIENT, code="other_patient")


OTHER_PATIENT = (
    "This conversation is about another patient. Use the patient_id that the host supplied; "
    "other records can't be read."
)
"""The message for a call with another patient; it contains neither of the two ids."""
