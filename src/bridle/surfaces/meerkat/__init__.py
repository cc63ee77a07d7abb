"""Meerkat's words, for every surface that speaks them: its requests, results, events and settings."""
