"""Converse with a model over an OpenAI-compatible endpoint: its calls come to the one door."""

from toolmd._chat.conversation import Conversation

__all__ = ["Conversation"]
