"""What a verb works on: the nearest project, or the files that were named."""
