"""Search one patient's notes by words and by meaning."""
