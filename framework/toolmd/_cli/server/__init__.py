"""What the verbs that serve put together."""
