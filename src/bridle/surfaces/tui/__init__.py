"""The terminal user interface, built with Textual."""
