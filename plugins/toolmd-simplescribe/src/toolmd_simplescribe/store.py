"""Hold the patients' records together: one file of items, and an index of notes a patient."""

from pathlib import Path

from toolmd import NotFoundError, ToolError
from toolmd.database import Database
from toolmd_simplescribe.chart import Chart
from toolmd_simplescribe.note_index import NoteIndex
from toolmd_simplescribe.schema import MIGRATIONS

FILE = "simplescribe.sqlite3"
"""The store's name in the project's state folder."""
INDEXES = "simplescribe-notes"
"""The folder beside it with each patient's index of notes."""


class PatientStore:
    """Everybody's records; a tool sees the one chart that the host names."""

    def __init__(self, state: Path) -> None:
        """Open the store of a state folder; it is made where there is none."""
        self.database = Database(state / FILE, MIGRATIONS)
        self._indexes = state / INDEXES

    def chart(self, patient_id: str, caller_patient: str | None) -> Chart:
        """Give the chart that a call asks for, if it is that of the patient the host named.

        Raises ToolError `other_patient` for any other, and `patient_not_found` where nothing of
        the patient was ever loaded: that is not a healthy patient.
        """
        if caller_patient is None or patient_id != caller_patient:
            raise ToolError(OTHER_PATIENT, code="other_patient")
        if (chart := self._chart(patient_id)) is None:
            message = (
                f"Nothing was loaded about patient {patient_id!r}. This says nothing about the "
                "patient: ask the operator to load the record."
            )
            raise ToolError(message, code="patient_not_found")
        return chart

    def patients(self) -> list[str]:
        """Give the ids of all patients; for the operator."""
        with self.database.reading() as db:
            return [id_ for (id_,) in db.execute("SELECT id FROM patient ORDER BY id")]

    def chart_of(self, patient_id: str) -> Chart:
        """Give one patient's chart, for the operator; raises NotFoundError."""
        if (chart := self._chart(patient_id)) is None:
            raise NotFoundError(f"nothing was loaded about patient {patient_id!r}")
        return chart

    def forget(self, patient_id: str) -> None:
        """Take away all that is kept of a patient; raises NotFoundError."""
        chart = self.chart_of(patient_id)
        with self.database.writing() as db:
            db.execute("DELETE FROM patient WHERE number = ?", (chart.number,))
        chart.index.remove()

    def close(self) -> None:
        """Let go of the file."""
        self.database.close()

    def _chart(self, patient_id: str) -> Chart | None:
        with self.database.reading() as db:
            query = "SELECT number FROM patient WHERE id = ?"
            row = db.execute(query, (patient_id,)).fetchone()
        if row is None:
            return None
        return Chart(self.database, row[0], NoteIndex(self._indexes / f"{row[0]}.sqlite3"))


OTHER_PATIENT = (
    "This conversation is about another patient. Call with the patient_id that the host gave; "
    "records of others are out of reach."
)
"""What a call for a patient is told whom the host did not name; it tells neither of the two ids."""
