"""The runs of skills, each on the snapshot on which it began."""
