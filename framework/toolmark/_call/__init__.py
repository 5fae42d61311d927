"""The one door: every call is validated, judged, run and told of here."""
