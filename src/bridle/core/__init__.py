"""The pure core of Bridle: its values and decisions, without I/O, clock, randomness or `await`."""
