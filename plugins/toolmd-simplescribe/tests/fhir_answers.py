"""A tool's answers from the FHIR resources of a test."""


def only(records, tool, *resources):
    records.load(*resources)
    (item,) = tool(records.chart())
    return item


def quantity(value, unit="mmol/L", **more):
    return {"value": value, "unit": unit, **more}
