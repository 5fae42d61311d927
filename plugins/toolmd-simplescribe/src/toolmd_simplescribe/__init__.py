"""Read a patient's record: labs, vitals, medications, problems and notes, loaded from FHIR R4."""
