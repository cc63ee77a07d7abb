"""Sessions in another process: the daemon's own wire, its server, and a client like the service itself."""
