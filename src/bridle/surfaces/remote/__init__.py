"""Sessions of another process: the daemon's protocol, its server, and a client with the session API."""
