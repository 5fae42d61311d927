"""Show a form of choices."""


def test_elicitation_sep1330_enums(untitled_single: str, untitled_multi: list[str]) -> str:
    return f"Elicitation completed: {untitled_single}, {', '.join(untitled_multi)}"
