"""The definitions, with the Python of all of them beside them."""
