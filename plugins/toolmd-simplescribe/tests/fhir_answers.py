"""A tool's answers from the FHIR resources of a test."""


def only(desk, tool, *resources):
    desk.load(*resources)
    (item,) = tool(desk.chart())
    return item


def quantity(value, unit="mmol/L", **more):
    return {"value": value, "unit": unit, **more}
