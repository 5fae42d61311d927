"""Tools that outside judges grade by name are called like tests, and are none."""

collect_ignore = ["project"]
