"""Values held against a Schema: strict, on pydantic-core, with problems that a model can mend."""
