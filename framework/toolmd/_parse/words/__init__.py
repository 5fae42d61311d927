"""Words as people write them: keys, names, numbers, lists."""
