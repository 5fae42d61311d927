"""What lies on disk: files read once, and modules made of their bytes."""
