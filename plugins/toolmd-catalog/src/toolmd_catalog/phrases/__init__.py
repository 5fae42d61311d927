"""How people say what a value may be: types, bounds, defaults, choices."""
