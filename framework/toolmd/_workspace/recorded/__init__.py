"""What servers and services answer to the calls of examples: recorded, and replayed."""
