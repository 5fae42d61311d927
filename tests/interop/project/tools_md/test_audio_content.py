"""Give a sound that is silent."""

from .media import SILENCE


def test_audio_content() -> dict[str, str]:
    return {"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}
