"""Show a form whose every field has a default."""


def test_elicitation_sep1034_defaults(
    name: str, age: int, score: float, status: str, verified: bool
) -> str:
    return f"Elicitation completed: {name}, {age}, {score}, {status}, {verified}"
