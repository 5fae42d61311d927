"""Do what the user must confirm."""


def test_input_required_result_request_state(ok: bool) -> str:
    return f"state-ok: {ok}"
