"""Converse with a model over an OpenAI-compatible endpoint; its calls go to the dispatcher."""

from toolmd._chat.conversation import Conversation

__all__ = ["Conversation"]
