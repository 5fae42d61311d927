"""How often and how long: rate, places, counts, deadlines."""
