"""Operating system helpers that several packages share: files, pipes, programs, TLS, tasks."""
