"""The REST API with server-sent events: an HTTP service over the session API."""
