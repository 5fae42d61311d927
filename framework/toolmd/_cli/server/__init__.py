"""The parts that the serving commands share."""
