"""A model's replies: their calls taken, their results given."""
