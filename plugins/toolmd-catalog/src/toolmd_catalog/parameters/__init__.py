"""The parameters of one tool, from lists, tables, signatures and examples."""
