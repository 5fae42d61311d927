"""The API: a route for each operation that a program performs on a workspace."""
