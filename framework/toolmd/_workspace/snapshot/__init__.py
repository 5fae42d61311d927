"""A workspace's snapshot at work: its door, its dialects, its findings."""
