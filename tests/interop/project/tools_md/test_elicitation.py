"""Greet the user by what they say of themselves."""


def test_elicitation(message: str, username: str, email: str) -> str:
    return f"User response: {username} <{email}> ({message})"
