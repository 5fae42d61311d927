"""Read FHIR R4 bundles: what each resource says, in the words of the tools."""
