"""The API: a route for everything that a program does with a workspace."""
