"""Bridle: a local-first agent runtime, with you holding the reins."""

__version__ = "0.1.0"

__all__ = ["__version__"]
