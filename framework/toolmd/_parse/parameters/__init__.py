"""Parameters: read every way of writing them into one tree, and the tree into schemas."""
