"""A call's arguments: what the rules say of them, and why they are refused."""
