"""Keep pytest from collecting the tools that external checkers require by name."""

collect_ignore = ["project"]
