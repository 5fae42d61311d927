"""Read FHIR R4 bundles and convert each resource to the terms of the tools."""
