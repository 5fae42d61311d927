"""The plugins of one snapshot, and what they provide to implementations."""
