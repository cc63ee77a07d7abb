"""One run from its first command to `RunEnded`: the driver and its parts."""
