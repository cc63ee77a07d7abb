"""Meerkat's wire types, shared by the surfaces that speak them: requests, results, events and settings."""
