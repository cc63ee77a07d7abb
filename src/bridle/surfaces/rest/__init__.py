"""REST with server-sent events: one HTTP service over the session API."""
