"""What a tool answers of FHIR resources that a test made."""


def only(desk, tool, *resources):
    desk.load(*resources)
    (item,) = tool(desk.chart())
    return item


def quantity(value, unit="mmol/L", **more):
    return {"value": value, "unit": unit, **more}
