"""A call's arguments: the rules, and the errors of a denied call."""
